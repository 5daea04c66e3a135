"""TLS connections: the trusted certificates, and the client's own certificate."""

from __future__ import annotations

import os
import ssl
from functools import cache

from benchwright.errors import UserError
from benchwright.records import Record


class TlsFiles(Record, frozen=True):
    """PEM files for encrypted connections.

    `ca_file`: certificates that are trusted in addition to the system's. `client_cert`: the certificate (with
    its chain) that identifies the client to a server. `client_key`: the private key of that certificate; None
    if the key is in the same file.
    """

    ca_file: str | None = None
    client_cert: str | None = None
    client_key: str | None = None


NO_TLS_FILES = TlsFiles()


@cache
def tls_context(files: TlsFiles) -> ssl.SSLContext:
    """Return the TLS context for connections with these files.

    The environment (SSL_CERT_FILE, SSL_CERT_DIR) still determines the system's trusted certificates.

    Raises:
        UserError: If a file cannot be read or used. The message names the file's option.
    """
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    if files.ca_file is not None:
        _check_readable("--ca-file", files.ca_file)
        try:
            context.load_verify_locations(cafile=files.ca_file)
        except ssl.SSLError:
            raise UserError(f"--ca-file {files.ca_file} holds no certificates in PEM format.") from None
    if files.client_cert is not None:
        _load_client(context, files.client_cert, files.client_key)
    elif files.client_key is not None:
        raise UserError("--client-key requires --client-cert.")
    return context


def _load_client(context: ssl.SSLContext, cert: str, key: str | None) -> None:
    _check_readable("--client-cert", cert)
    if key is not None:
        _check_readable("--client-key", key)

    def refuse_password() -> str:
        raise UserError(
            f"The private key in {key or cert} is encrypted: decrypt it first, such as with `openssl pkey`."
        )

    try:
        context.load_cert_chain(cert, key, refuse_password)
    except ssl.SSLError as error:
        if key is None and "PRIVATE_KEY" not in _content(cert):
            raise UserError(
                f"--client-cert {cert} holds no private key: give it with --client-key."
            ) from None
        why = (
            "they do not belong together"
            if error.reason == "KEY_VALUES_MISMATCH"
            else "they are no PEM files"
        )
        files = f"--client-cert {cert}" if key is None else f"--client-cert {cert} and --client-key {key}"
        raise UserError(f"{files} cannot be used: {why}.") from None


def _check_readable(option: str, path: str) -> None:
    try:
        _content(path)
    except OSError as error:
        raise UserError(f"{option} {path} cannot be read: {error.strerror}.") from None


def _content(path: str) -> str:
    with open(path, "rb") as file:
        return file.read().decode("latin-1").replace("PRIVATE KEY", "PRIVATE_KEY")


def certificate_refusal(error: Exception | None) -> str | None:
    """Return the reason why a server refused the client's certificate, from the TLS alert (RFC 8446 6.2).

    Return None if the error is another error.
    """
    reason = (error.reason or "") if isinstance(error, ssl.SSLError) else ""
    if "CERTIFICATE_REQUIRED" in reason:
        return "the server asks for a client certificate: give one with --client-cert"
    if reason == "SSLV3_ALERT_HANDSHAKE_FAILURE":  # sent by TLS 1.2 also for a missing certificate
        return "the server ended the TLS handshake; if it asks for a client certificate, give one with --client-cert"
    if "ALERT" in reason and ("CERTIFICATE" in reason or "UNKNOWN_CA" in reason):
        return (
            f"the server refuses the client certificate of --client-cert ({reason.lower().replace('_', ' ')})"
        )
    return None


def certificate_path_problem() -> str:
    """Return what is wrong with SSL_CERT_FILE or SSL_CERT_DIR. Return "" if nothing is wrong.

    OpenSSL itself does not report such an error.
    """
    if file := os.environ.get("SSL_CERT_FILE"):
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=file)
        except OSError as error:
            reason = "it holds no certificates" if isinstance(error, ssl.SSLError) else error.strerror
            return f" (SSL_CERT_FILE is {file}: {reason})"
    for directory in filter(None, os.environ.get("SSL_CERT_DIR", "").split(os.pathsep)):
        try:
            os.listdir(directory)
        except OSError as error:
            return f" (SSL_CERT_DIR is {directory}: {error.strerror})"
    return ""
