"""The wire over TLS, with certificates made for the test."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.endpoint.http_kit import OpenWire, answer, chunked, failure_of, json_answer, send
from tests.endpoint.scripted_server import AGAIN, ASKED, CLOSE, ENCRYPT, Serve, until

from benchwright.endpoint.access import Access
from benchwright.endpoint.address import Proxy
from benchwright.endpoint.server_info import list_models
from benchwright.endpoint.tls import TlsFiles, tls_context
from benchwright.errors import UserError

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")

HELLO = answer(b"hello")
GRANTED = b"HTTP/1.1 200 Connection established\r\n\r\n"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for localhost and 127.0.0.1, its key in the same file."""
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    key = file.with_suffix(".key")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    alternatives = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(
        [*command.split(), *alternatives, "-keyout", key, "-out", file], check=True, capture_output=True
    )
    file.write_bytes(key.read_bytes() + file.read_bytes())
    return file


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    """The server's side."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


@pytest.fixture
def trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The certificate is among those that the environment says to trust."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tls_context.cache_clear()
    yield
    tls_context.cache_clear()


@pytest.mark.usefixtures("trusted")
class TestATrustedServer:
    @pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
    async def test_is_asked_under_a_name_in_its_certificate(
        self, serve: Serve, open_wire: OpenWire, tls: ssl.SSLContext, host: str
    ) -> None:
        server = await serve([ASKED, HELLO, ASKED, chunked([b"second"])], tls=tls, secure=True)
        wire = open_wire(server.url.replace("127.0.0.1", host))
        assert [(await send(wire)).body for _ in range(2)] == [b"hello", b"second"]
        assert server.connections == 1

    async def test_hears_that_we_speak_http_1_1(
        self, serve: Serve, open_wire: OpenWire, tls: ssl.SSLContext
    ) -> None:
        server = await serve([ASKED, HELLO], tls=tls, secure=True)
        await send(open_wire(server.url))
        assert server.alpn == ["http/1.1"]

    async def test_may_end_a_body_by_closing(
        self, serve: Serve, open_wire: OpenWire, tls: ssl.SSLContext
    ) -> None:
        server = await serve([ASKED, b"HTTP/1.1 200 OK\r\n\r\n", b"hello", CLOSE], tls=tls, secure=True)
        assert (await send(open_wire(server.url))).body == b"hello"

    async def test_that_closed_a_waiting_connection_is_asked_again(
        self, serve: Serve, open_wire: OpenWire, tls: ssl.SSLContext
    ) -> None:
        server = await serve([ASKED, HELLO, CLOSE], [ASKED, HELLO], tls=tls, secure=True)
        wire = open_wire(server.url)
        await send(wire)
        await until(lambda: server.open == 0)
        assert (await send(wire)).body == b"hello"

    async def test_sees_a_request_that_stalled_close(
        self, serve: Serve, open_wire: OpenWire, tls: ssl.SSLContext
    ) -> None:
        server = await serve([ASKED, HELLO[:-1]], tls=tls, secure=True)
        assert (await failure_of(open_wire(server.url, stall_seconds=0.1))).kind == "stall"
        await until(lambda: server.open == 0)

    async def test_is_reached_through_a_proxy(
        self, serve: Serve, open_wire: OpenWire, tls: ssl.SSLContext
    ) -> None:
        proxy = await serve([ASKED, GRANTED, ENCRYPT, ASKED, HELLO, ASKED, HELLO], tls=tls)
        wire = open_wire("https://localhost:4433", proxy=Proxy("127.0.0.1", proxy.port))
        assert [(await send(wire)).body for _ in range(2)] == [b"hello", b"hello"]
        connect, *asked = proxy.requests
        assert connect.line == "CONNECT localhost:4433 HTTP/1.1"
        assert [request.line for request in asked] == ["POST /v1/x HTTP/1.1"] * 2

    async def test_must_be_the_one_that_was_asked_for(
        self, serve: Serve, open_wire: OpenWire, tls: ssl.SSLContext
    ) -> None:
        proxy = await serve([ASKED, GRANTED, ENCRYPT, ASKED], tls=tls)
        wire = open_wire("https://models.example", proxy=Proxy("127.0.0.1", proxy.port))
        error = await failure_of(wire)
        assert error.kind == "connect"
        assert "not trusted" in str(error)
        assert "models.example" in str(error)
        assert len(proxy.requests) == 1


async def test_a_server_whose_certificate_nobody_vouches_for_is_refused(
    serve: Serve, open_wire: OpenWire, tls: ssl.SSLContext
) -> None:
    server = await serve([ASKED, HELLO, AGAIN], tls=tls, secure=True)
    error = await failure_of(open_wire(server.url))
    assert error.kind == "connect"
    assert str(error).startswith("the server's certificate is not trusted: self")
    assert server.requests == []


@pytest.mark.parametrize(
    ("variable", "content", "reason"),
    [
        ("SSL_CERT_FILE", None, "No such file or directory"),
        ("SSL_CERT_FILE", "no certificate", "it holds no certificates"),
        ("SSL_CERT_DIR", None, "No such file or directory"),
        ("SSL_CERT_DIR", "no directory", "Not a directory"),
    ],
)
async def test_certificates_of_the_environment_that_are_not_there_are_named(
    serve: Serve,
    open_wire: OpenWire,
    tls: ssl.SSLContext,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    variable: str,
    content: str | None,
    reason: str,
) -> None:
    place = tmp_path / "trusted"
    if content is not None:
        place.write_text(content)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(place))
    server = await serve([ASKED, HELLO, AGAIN], tls=tls, secure=True)
    error = await failure_of(open_wire(server.url))
    assert str(error).endswith(f" ({variable} is {place}: {reason})")


async def test_a_server_without_tls_is_told_apart_from_a_closed_port(
    serve: Serve, open_wire: OpenWire
) -> None:
    server = await serve([b"HTTP/1.1 400 Bad Request\r\n\r\n"])
    error = await failure_of(open_wire(server.url.replace("http", "https")))
    assert error.kind == "connect"
    assert str(error).startswith("TLS failed")


async def test_a_server_that_closes_instead_of_a_handshake(serve: Serve, open_wire: OpenWire) -> None:
    server = await serve([CLOSE])
    error = await failure_of(open_wire(server.url.replace("http", "https")))
    assert error.kind == "connect"
    assert str(error)


async def test_a_handshake_takes_no_longer_than_the_connect_limit(serve: Serve, open_wire: OpenWire) -> None:
    server = await serve([])
    error = await failure_of(open_wire(server.url.replace("http", "https"), connect_seconds=0.2))
    assert error.kind == "connect_timeout"
    await until(lambda: server.open == 0)


class TestACertificateOfTheUsers:
    async def test_is_trusted_besides_those_of_the_system(
        self, serve: Serve, open_wire: OpenWire, tls: ssl.SSLContext, certificate: Path
    ) -> None:
        server = await serve([ASKED, HELLO], tls=tls, secure=True)
        files = TlsFiles(ca_file=str(certificate))
        assert (await send(open_wire(server.url, tls=files))).body == b"hello"
        system = ssl.create_default_context().cert_store_stats()["x509_ca"]
        assert tls_context(files).cert_store_stats()["x509"] > system

    async def test_holds_for_lists_of_models_too(
        self, serve: Serve, tls: ssl.SSLContext, certificate: Path
    ) -> None:
        server = await serve([ASKED, json_answer({"data": [{"id": "m"}]})], tls=tls, secure=True)
        access = Access(tls=TlsFiles(ca_file=str(certificate)))
        assert await list_models(f"{server.url}/v1", access) == ["m"]

    async def test_is_trusted_through_a_proxy(
        self, serve: Serve, open_wire: OpenWire, tls: ssl.SSLContext, certificate: Path
    ) -> None:
        proxy = await serve([ASKED, GRANTED, ENCRYPT, ASKED, HELLO], tls=tls)
        files = TlsFiles(ca_file=str(certificate))
        wire = open_wire("https://localhost:4433", proxy=Proxy("127.0.0.1", proxy.port), tls=files)
        assert (await send(wire)).body == b"hello"


@pytest.fixture
def asking(certificate: Path) -> ssl.SSLContext:
    """The side of a server that lets in who has a certificate, here its own."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    context.load_verify_locations(certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    return context


class TestAClientCertificate:
    @pytest.mark.parametrize("apart", [True, False], ids=["key apart", "key in the same file"])
    async def test_lets_the_client_in(
        self, serve: Serve, open_wire: OpenWire, asking: ssl.SSLContext, certificate: Path, apart: bool
    ) -> None:
        server = await serve([ASKED, HELLO], tls=asking, secure=True)
        key = str(certificate.with_suffix(".key")) if apart else None
        files = TlsFiles(str(certificate), str(certificate), key)
        assert (await send(open_wire(server.url, tls=files))).body == b"hello"

    @pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
    async def test_that_is_missing_is_told(
        self, open_wire: OpenWire, asking: ssl.SSLContext, certificate: Path, version: ssl.TLSVersion
    ) -> None:
        asking.maximum_version = version
        with refusing_handshakes(asking) as url:
            error = await failure_of(open_wire(url, tls=TlsFiles(str(certificate))))
        assert error.kind == "connect"
        assert "give one with --client-cert" in str(error)

    async def test_that_nobody_vouches_for_is_told(
        self, open_wire: OpenWire, tls: ssl.SSLContext, certificate: Path
    ) -> None:
        tls.verify_mode = ssl.CERT_REQUIRED
        with refusing_handshakes(tls) as url:
            error = await failure_of(open_wire(url, tls=TlsFiles(str(certificate), str(certificate))))
        assert "the server refuses the client certificate of --client-cert" in str(error)


@contextmanager
def refusing_handshakes(context: ssl.SSLContext) -> Iterator[str]:
    """A server whose handshakes fail, and that closes only after its alert was read, as asyncio's does not."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection.dup() as raw, suppress(OSError):
                try:
                    context.wrap_socket(connection, server_side=True)
                except ssl.SSLError:
                    while raw.recv(65536):
                        pass

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


class TestFilesThatCannotBeUsed:
    @pytest.fixture
    def files(self, certificate: Path, tmp_path: Path) -> dict[str, str]:
        """Files by what they are: the certificate alone, another key, an encrypted key, and text."""
        pem = certificate.read_text()
        alone = tmp_path / "alone.pem"
        alone.write_text(pem[pem.index("-----BEGIN CERTIFICATE") :])
        other, locked, text = tmp_path / "other.key", tmp_path / "locked.key", tmp_path / "text"
        curve = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        for made, more in ((other, []), (locked, ["-aes256", "-pass", "pass:word"])):
            subprocess.run(
                ["openssl", "genpkey", *curve, *more, "-out", made], check=True, capture_output=True
            )
        text.write_text("nothing of the kind")
        named = {"alone": alone, "other": other, "locked": locked, "text": text, "none": tmp_path / "none"}
        return {name: str(path) for name, path in named.items()}

    @pytest.mark.parametrize(
        ("ca_file", "cert", "key", "told"),
        [
            ("none", None, None, "--ca-file {none} cannot be read: No such file or directory."),
            ("text", None, None, "--ca-file {text} holds no certificates in PEM format."),
            (None, "none", None, "--client-cert {none} cannot be read: No such file or directory."),
            (None, "alone", "none", "--client-key {none} cannot be read: No such file or directory."),
            (None, "alone", None, "--client-cert {alone} holds no private key: give it with --client-key."),
            (None, "alone", "other", "--client-cert {alone} and --client-key {other} cannot be used: "
             "they do not belong together."),
            (None, "alone", "text", "--client-cert {alone} and --client-key {text} cannot be used: "
             "they are no PEM files."),
            (None, "alone", "locked", "The private key in {locked} is encrypted: decrypt it first, "
             "such as with `openssl pkey`."),
            (None, None, "other", "--client-key requires --client-cert."),
        ],
    )  # fmt: skip
    def test_are_named_with_their_option(
        self, files: dict[str, str], ca_file: str | None, cert: str | None, key: str | None, told: str
    ) -> None:
        given = TlsFiles(*(name and files[name] for name in (ca_file, cert, key)))
        with pytest.raises(UserError) as caught:
            tls_context(given)
        assert str(caught.value) == told.format(**files)
