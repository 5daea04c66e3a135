"""The wire through a proxy: which address goes where, and what is said when the proxy will not."""

from __future__ import annotations

import socket

import pytest
from tests.endpoint.http_kit import OpenWire, answer, failure_of, send
from tests.endpoint.scripted_server import ASKED, CLOSE, Serve, Step, until

from benchwright.endpoint.address import Proxy, find_proxy, parse_base_url

HELLO = answer(b"hello")
GRANTED = b"HTTP/1.1 200 Connection established\r\nVia: 1.1 proxy\r\n\r\n"


class TestConnect:
    async def test_the_proxy_is_asked_for_a_tunnel_once_and_then_passes_everything_on(
        self, serve: Serve, open_wire: OpenWire
    ) -> None:
        proxy = await serve([ASKED, GRANTED, ASKED, HELLO, ASKED, HELLO])
        wire = open_wire("http://models.example:8000/v1", proxy=Proxy("127.0.0.1", proxy.port))
        assert [(await send(wire)).body for _ in range(2)] == [b"hello", b"hello"]
        connect, first, second = proxy.requests
        assert connect.line == "CONNECT models.example:8000 HTTP/1.1"
        assert connect.headers == {"host": "models.example:8000"}
        assert first.line == second.line == "POST /v1/x HTTP/1.1"
        assert "proxy-authorization" not in first.headers

    async def test_default_ports_are_named_and_ipv6_is_in_brackets(
        self, serve: Serve, open_wire: OpenWire
    ) -> None:
        proxy = await serve([ASKED, GRANTED, ASKED, HELLO])
        for url in ("http://models.example", "http://[2001:db8::1]"):
            await send(open_wire(url, proxy=Proxy("127.0.0.1", proxy.port)))
        lines = [request.line for request in proxy.requests if request.line.startswith("CONNECT")]
        assert lines == [
            "CONNECT models.example:80 HTTP/1.1",
            "CONNECT [2001:db8::1]:80 HTTP/1.1",
        ]

    async def test_a_name_and_password_go_to_the_proxy_alone(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, GRANTED, ASKED, HELLO])
        proxy = find_proxy(
            parse_base_url("http://models.example"),
            {"http_proxy": f"http://user:p%40ss@127.0.0.1:{server.port}"},
        )
        await send(open_wire("http://models.example", proxy=proxy))
        connect, asked = server.requests
        assert connect.headers["proxy-authorization"] == "Basic dXNlcjpwQHNz"
        assert "proxy-authorization" not in asked.headers

    @pytest.mark.parametrize("granted", [b"HTTP/1.0 200 OK\r\n\r\n", b"HTTP/1.1 204 Fine\r\nX: y\r\n\r\n"])
    async def test_any_success_grants_the_tunnel(
        self, serve: Serve, open_wire: OpenWire, granted: bytes
    ) -> None:
        proxy = await serve([ASKED, granted[:9], 0.01, granted[9:], ASKED, HELLO])
        wire = open_wire("http://models.example", proxy=Proxy("127.0.0.1", proxy.port))
        assert (await send(wire)).body == b"hello"


class TestRefusal:
    @pytest.mark.parametrize(
        ("script", "said"),
        [
            ([ASKED, b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"], "answered 407 to CONNECT"),
            ([ASKED, b"HTTP/1.1 502 Bad Gateway\r\n\r\n", CLOSE], "answered 502 to CONNECT"),
            ([ASKED, CLOSE], "the proxy closed the connection"),
            ([ASKED, b"SSH-2.0\r\n\r\n"], "answered 0 to CONNECT"),
            ([ASKED, b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20_000], "answered 0 to CONNECT"),
        ],
    )
    async def test_is_said_and_leaves_no_connection(
        self, serve: Serve, open_wire: OpenWire, script: list[bytes | Step], said: str
    ) -> None:
        proxy = await serve(script)
        wire = open_wire("http://models.example", proxy=Proxy("127.0.0.1", proxy.port))
        error = await failure_of(wire)
        assert error.kind == "connect"
        assert said in str(error)
        await until(lambda: proxy.open == 0)

    async def test_a_proxy_that_says_nothing_meets_the_connect_limit(
        self, serve: Serve, open_wire: OpenWire
    ) -> None:
        proxy = await serve([ASKED])
        wire = open_wire("http://models.example", proxy=Proxy("127.0.0.1", proxy.port), connect_seconds=0.1)
        assert (await failure_of(wire)).kind == "connect_timeout"
        await until(lambda: proxy.open == 0)

    async def test_a_proxy_that_is_not_there_is_named(self, open_wire: OpenWire) -> None:
        with socket.socket() as bound:  # but nobody listens
            bound.bind(("127.0.0.1", 0))
            port = bound.getsockname()[1]
            error = await failure_of(open_wire("http://models.example", proxy=Proxy("127.0.0.1", port)))
        assert error.kind == "connect"
        assert str(error).startswith(f"the proxy 127.0.0.1:{port}: ")
