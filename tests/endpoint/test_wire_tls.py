"""The wire over TLS, with certificates made for the test."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.endpoint.http_kit import OpenWire, answer, chunked, failure_of, send
from tests.endpoint.scripted_server import AGAIN, ASKED, CLOSE, ENCRYPT, Serve, until

from benchwright.endpoint.address import Proxy
from benchwright.endpoint.tls import tls_context

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
        assert (await failure_of(open_wire(server.url, stall=0.1))).kind == "stall"
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
    error = await failure_of(open_wire(server.url.replace("http", "https"), connect=0.2))
    assert error.kind == "connect_timeout"
    await until(lambda: server.open == 0)
