"""How the wire fails: one typed error, whatever a server does, and the connection is never used again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle, islice

import pytest
from tests.endpoint.http_kit import CALL, Collected, OpenWire, answer, failure_of, head, send
from tests.endpoint.scripted_server import AGAIN, ASKED, CLOSE, RESET, Serve, Step, until

from benchwright.endpoint.address import parse_base_url
from benchwright.endpoint.connection import MAX_HEAD_BYTES, Headers, TransportError
from benchwright.endpoint.connection_setup import open_connection

NOTHING_HEARD = "the server closed the connection before it answered"
BROKEN_OFF = "the server closed the connection in the middle of the answer"


class TestClosedTooEarly:
    @pytest.mark.parametrize("how", [CLOSE, RESET])
    async def test_before_any_byte(self, serve: Serve, open_wire: OpenWire, how: Step) -> None:
        server = await serve([ASKED, how])
        error = await failure_of(open_wire(server.url))
        assert (error.kind, str(error), error.received) == ("closed", NOTHING_HEARD, False)
        assert server.connections == 1

    @pytest.mark.parametrize("how", [CLOSE, RESET])
    @pytest.mark.parametrize(
        "part",
        [
            b"HTTP/1.1 2",
            head(status="100 Continue"),
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n",
            head("Content-Length: 9"),
            answer(b"hello world")[:-1],
            head("Transfer-Encoding: chunked") + b"5\r\nhello\r\n",
        ],
    )
    async def test_after_some(self, serve: Serve, open_wire: OpenWire, part: bytes, how: Step) -> None:
        server = await serve([ASKED, part, 0.05, how])
        error = await failure_of(open_wire(server.url))
        assert (error.kind, str(error), error.received) == ("closed", BROKEN_OFF, True)

    async def test_what_came_before_was_handed_on(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, answer(b"hello world")[:-6], 0.02, CLOSE])
        sink = Collected()
        with pytest.raises(TransportError):
            await open_wire(server.url).send(CALL, sink)
        assert sink.body == b"hello"


class TestInvalidAnswers:
    @pytest.mark.parametrize(
        "garbage",
        [
            b"SSH-2.0-OpenSSH_9.6\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            b"HTTP/2 200\r\n\r\n",
            b"HTTP/1.1 OK\r\n\r\n",
            head("Content-Length: many"),
            head("Content-Length: -1"),
            head("Content-Length: 5", "Content-Length: 6"),
            head("Content-Length: 5", "Transfer-Encoding: chunked"),
            head("Transfer-Encoding: chunked") + b"five\r\nhello\r\n",
            head("Transfer-Encoding: chunked") + b"f" * 20 + b"\r\nhello\r\n",
            head("No colon here"),
            head(status="101 Switching Protocols"),
            head("Upgrade: websocket", "Connection: upgrade", status="101 Switching Protocols"),
        ],
    )
    async def test_what_is_no_http_is_refused(
        self, serve: Serve, open_wire: OpenWire, garbage: bytes
    ) -> None:
        server = await serve([ASKED, garbage])
        error = await failure_of(open_wire(server.url))
        assert (error.kind, error.received) == ("malformed", True)
        assert str(error).startswith("the answer is not valid HTTP/1.1")
        await until(lambda: server.open == 0)

    async def test_a_server_that_speaks_first_is_no_http_server(
        self, serve: Serve, open_wire: OpenWire
    ) -> None:
        server = await serve([b"SSH-2.0-OpenSSH_9.6\r\n"])
        assert (await failure_of(open_wire(server.url))).kind in ("malformed", "closed")

    @pytest.mark.parametrize(
        "endless",
        [
            [b"HTTP/1.1 200 OK\r\n", b"X-Padding: " + b"x" * 60_000],
            [b"HTTP/1.1 200 OK\r\n", b"X-Padding: x\r\n" * 5_000],
            [head(status="103 Early Hints") * 2_000],
        ],
        ids=["one header", "many headers", "informational responses"],
    )
    async def test_a_head_without_end_is_cut_off(
        self, serve: Serve, open_wire: OpenWire, endless: list[bytes]
    ) -> None:
        first, *more = endless
        rest = more or endless
        server = await serve([ASKED, first, *islice(cycle(rest), 100)])
        error = await failure_of(open_wire(server.url))
        assert error.kind == "malformed"
        assert str(error) == f"the headers of the answer are larger than {MAX_HEAD_BYTES} bytes"

    async def test_large_headers_within_the_limit_are_fine(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, answer(b"hello", f"X-Padding: {'x' * 100_000}")])
        assert (await send(open_wire(server.url))).body == b"hello"


class Refusing:
    """A sink that fails as the test says."""

    def __init__(self, in_head: Exception | None = None, in_data: Exception | None = None) -> None:
        self._in_head = in_head
        self._in_data = in_data

    def receive_head(self, status: int, headers: Headers, at: int) -> None:
        if self._in_head:
            raise self._in_head

    def last_token_time(self) -> None:
        pass

    def receive_data(self, chunk: bytes, at: int) -> None:
        if self._in_data:
            raise self._in_data


class TestASinkThatFails:
    @pytest.mark.parametrize(
        "sink",
        [
            lambda: Refusing(in_head=ValueError("not with me")),
            lambda: Refusing(in_data=ValueError("not with me")),
            lambda: Refusing(in_data=RecursionError("not with me")),
        ],
    )
    async def test_ends_the_exchange_with_what_it_said(
        self, serve: Serve, open_wire: OpenWire, sink: Callable[[], Refusing]
    ) -> None:
        server = await serve([ASKED, answer(b"hello"), AGAIN])
        wire = open_wire(server.url)
        with pytest.raises(TransportError, match=r"^not with me$") as caught:
            await wire.send(CALL, sink())
        assert (caught.value.kind, caught.value.received) == ("malformed", True)
        await until(lambda: server.open == 0)
        assert (await send(wire)).body == b"hello"


class TestNoConnection:
    async def test_to_a_port_where_nobody_listens(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([])
        await server.__aexit__()
        error = await failure_of(open_wire(server.url))
        assert (error.kind, error.received) == ("connect", False)
        assert "refused" in str(error) or "Connect call failed" in str(error)

    async def test_to_a_host_that_does_not_exist(self, open_wire: OpenWire) -> None:
        error = await failure_of(open_wire("http://no-such-host.invalid:8000"))
        assert error.kind == "connect"
        assert str(error)

    async def test_to_a_server_that_closes_on_sight(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([CLOSE])
        error = await failure_of(open_wire(server.url))
        assert (error.kind, error.received) == ("closed", False)

    async def test_that_lasted_until_the_request(self, serve: Serve) -> None:
        server = await serve([CLOSE])
        connection = await open_connection(parse_base_url(server.url), None, limit=5)
        await until(lambda: not connection.open)
        with pytest.raises(TransportError, match=NOTHING_HEARD):
            await connection.start_exchange(b"question", Collected()).done
