"""The base URL of an endpoint, parsed and checked, and the proxy through which the endpoint is reached, if any."""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from benchwright.errors import UserError
from benchwright.headers import is_secret_header
from benchwright.records import Record

DEFAULT_PORTS = {"http": 80, "https": 443}

UNIX_SCHEME = "unix"
"""URL scheme of a Unix socket, as in `unix:///run/llm.sock`.

The paths of requests begin with /v1. Another path follows the socket after a colon:
`unix:///run/llm.sock:/api/v1`.
"""

MAX_SOCKET_PATH_BYTES = 107
"""Maximum length of a Unix socket path in bytes (unix(7))."""


class Address(Record, frozen=True):
    """Address of a server, parsed from its base URL.

    `path_prefix`: the beginning of every request's path, such as `/v1`. `socket_path`: the path of a Unix socket if the
    server is reached through one, else None. `query`: the query appended to every request, such as
    `api-version` on Azure.
    """

    scheme: str
    host: str
    port: int
    path_prefix: str = ""
    socket_path: str | None = None
    query: str = ""

    def request_target(self, path: str) -> str:
        """Return the request target (RFC 9112 3.2) of a full path: the path and the base URL's query."""
        if not self.query:
            return path or "/"
        return f"{path or '/'}{'&' if '?' in path else '?'}{self.query}"

    @property
    def uses_tls(self) -> bool:
        """True if the connection to the server is encrypted."""
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """Value of the Host header. An IPv6 address is in brackets.

        The port is left out if it is the scheme's default.
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS.get(self.scheme, 0) else f"{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """True if the host is a loopback name or address.

        0.0.0.0 and :: count, because they lead to this machine, too.
        """
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            ip = ipaddress.ip_address(self.host)
        except ValueError:
            return False
        return ip.is_loopback or ip.is_unspecified

    @property
    def server_identity(self) -> tuple[str, str, int, str | None]:
        """All fields of the address except prefix and query. Two addresses of one server have equal identities."""
        return self.scheme, self.host, self.port, self.socket_path


class Proxy(Record, frozen=True):
    """An HTTP proxy that supports CONNECT.

    `authorization`: the value of the Proxy-Authorization header; None if the proxy needs none.
    """

    host: str
    port: int
    authorization: str | None = None


def parse_base_url(url: str) -> Address:
    """Parse and check a base URL, and return its address.

    Raises:
        UserError: If the URL is not http, https or unix; if it has no host or no path; or if it contains a
            fragment, a password, or a query with a secret.
    """
    if (
        url.strip()
        .lower()
        .startswith((f"{UNIX_SCHEME}:", f"http+{UNIX_SCHEME}:", f"https+{UNIX_SCHEME}:", "http://unix:"))
    ):
        return _unix_address(url.strip())
    try:
        parts = urlsplit(url.strip())
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode("ascii")
    except ValueError as error:
        raise UserError(f"The base URL {url!r} cannot be read: {error}.") from None
    if parts.scheme not in DEFAULT_PORTS or not host:
        socket = (
            f", or for a Unix socket {UNIX_SCHEME}://{url.strip()}" if url.strip().startswith("/") else ""
        )
        raise UserError(
            f"The base URL {url!r} is not an http:// or https:// address (for example http://localhost:8000/v1{socket})."
        )
    if parts.username or parts.password:
        raise UserError("The base URL holds a user name or password; give the key with --api-key instead.")
    if parts.fragment or not _is_plain(parts.path):
        raise UserError(f"The base URL {url!r} must end with a plain path such as /v1.")
    query = _checked_query(parts.query)
    prefix = parts.path.rstrip("/")
    return Address(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme], prefix, query=query)


def _checked_query(query: str) -> str:
    """Return the query of a base URL, after checking it.

    The query must hold no secret, because base URLs are stored with runs.

    Raises:
        UserError: If the query contains characters that cannot be sent, or holds a secret.
    """
    if not _is_plain(query):
        raise UserError("The query of the base URL has characters that no URL can have.")
    for name, value in parse_qsl(query, keep_blank_values=True):
        if is_secret_header(name, value):
            raise UserError(
                f"The base URL holds a secret ({name}=…): send it as a header, with --header-env."
            )
    return query


def _unix_address(url: str) -> Address:
    """Return the address for the URL of a Unix socket.

    If the URL gives no path for requests, the path is /v1, as at most servers.

    Raises:
        UserError: If the URL is malformed, or if the socket's path is relative or too long.
    """
    scheme, _, rest = url.partition("://")
    rest, _, query = rest.partition("?")
    socket, prefix = (rest[:-1], "") if rest.endswith(":") else (rest, "/v1")
    if ":/" in rest:
        socket, prefix = rest.split(":/", 1)[0], rest[rest.index(":/") + 1 :]
    if scheme.lower() != UNIX_SCHEME or not socket.startswith("/"):
        raise UserError(f"The base URL {url!r} is not in the form of a Unix socket: {_in_our_form(url)}.")
    if (length := len(socket.encode())) > MAX_SOCKET_PATH_BYTES:
        raise UserError(
            f"The path of the socket in {url!r} has {length} bytes, the system takes "
            f"{MAX_SOCKET_PATH_BYTES}: make a link."
        )
    if not _is_plain(prefix) or "#" in prefix:
        raise UserError(f"The base URL {url!r} must end with a plain path such as :/v1.")
    return Address(UNIX_SCHEME, "localhost", 0, prefix.rstrip("/"), socket, _checked_query(query))


def _in_our_form(url: str) -> str:
    """Return advice on how to write the URL of a Unix socket.

    The advice contains the socket's path if `url` contains one.
    """
    _, slashes, rest = url.partition("://")
    rest = unquote(rest).removeprefix("unix:") if slashes else url.partition(":")[2]
    at = rest.find("/v1")
    socket, prefix = (rest[:at].rstrip(":"), rest[at:]) if at > 0 else (rest.rstrip(":"), "/v1")
    if not socket.startswith("/"):
        socket = f"/path/of/{socket or 'llm.sock'}"
    return f"write {UNIX_SCHEME}://{socket}" + ("" if prefix == "/v1" else f":{prefix}")


def replace_url_path(url: str, path: str) -> str:
    """Return the URL of `path` at the server of a base URL. `path` replaces the path of the base URL."""
    address = parse_base_url(url)
    if address.socket_path is not None:
        return f"{UNIX_SCHEME}://{address.socket_path}:{path}"
    return f"{address.scheme}://{address.authority}{path}"


def find_proxy(address: Address, environ: Mapping[str, str]) -> Proxy | None:
    """Return the proxy that environment variables set for an address. Return None for a direct connection.

    The variables are HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY. Each may be in upper or lower case,
    except `http_proxy`, which is read in lower case only, as by curl. NO_PROXY lists hosts, ends of host
    names, addresses and networks (10.0.0.0/8). Loopback addresses are always reached directly.

    Raises:
        UserError: If the proxy is not an http:// address.
    """
    names = ("https_proxy", "HTTPS_PROXY") if address.uses_tls else ("http_proxy",)
    value = next((environ[name] for name in (*names, "all_proxy", "ALL_PROXY") if environ.get(name)), None)
    if not value or address.is_loopback or address.socket_path is not None:
        return None
    if _bypassed(address, environ.get("no_proxy") or environ.get("NO_PROXY") or ""):
        return None
    return _parse_proxy(value)


def _bypassed(address: Address, no_proxy: str) -> bool:
    for entry in (part.strip().lower() for part in no_proxy.split(",")):
        host, _, port = entry.partition(":") if entry.count(":") == 1 else (entry, "", "")
        if port and port != str(address.port):
            continue
        suffix = host.removeprefix("*").removeprefix(".")
        named = bool(suffix) and (address.host == suffix or address.host.endswith("." + suffix))
        if entry == "*" or named or _lies_in(address.host, host):
            return True
    return False


def _lies_in(host: str, network: str) -> bool:
    """Return True if the host is an IP address in a network such as 10.0.0.0/8. Host names are not looked up."""
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network.strip("[]"), strict=False)
    except ValueError:
        return False


def _parse_proxy(value: str) -> Proxy:
    try:
        parts: SplitResult = urlsplit(value if "://" in value else f"http://{value}")
        host, port = parts.hostname, parts.port or DEFAULT_PORTS["http"]
    except ValueError:
        host = None
    if not host or parts.scheme != "http":
        raise UserError(
            "The proxy in the environment (HTTPS_PROXY, http_proxy or ALL_PROXY) is not an http:// address; "
            "only such proxies are supported."
        )
    authorization = None
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        authorization = "Basic " + base64.b64encode(pair).decode("ascii")
    return Proxy(host, port, authorization)


def _is_plain(path: str) -> bool:
    return all("!" <= character <= "~" for character in path)
