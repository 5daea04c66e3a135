"""How the wire reads answers: where a body ends, what is passed over, and when the pieces are said to have come."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from itertools import pairwise
from time import perf_counter_ns

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.endpoint.http_kit import CALL, Collected, OpenWire, answer, chunked, failure_of, head, send
from tests.endpoint.scripted_server import ASKED, CLOSE, RESET, Serve

from benchwright.endpoint.connection import Connection
from benchwright.endpoint.waiting_bytes import watch_socket


class TestWhereABodyEnds:
    async def test_by_its_content_length(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, answer(b"hello")])
        assert (await send(open_wire(server.url))).body == b"hello"

    async def test_by_the_last_chunk(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, chunked([b"hel", b"lo"])])
        assert (await send(open_wire(server.url))).body == b"hello"

    async def test_what_arrives_together_is_handed_on_together(
        self, serve: Serve, open_wire: OpenWire
    ) -> None:
        server = await serve(
            [
                ASKED,
                head("Transfer-Encoding: chunked") + b"3\r\nhel\r\n2\r\nlo\r\n",
                0.1,
                b"1\r\n!\r\n0\r\n\r\n",
            ]
        )
        assert (await send(open_wire(server.url))).pieces == [b"hello", b"!"]

    async def test_by_the_trailers_which_are_no_headers(self, serve: Serve, open_wire: OpenWire) -> None:
        body = b"5;quality=high\r\nhello\r\n0\r\nX-Checksum: 1\r\nX-Cost: 2\r\n\r\n"
        server = await serve([ASKED, head("Transfer-Encoding: chunked") + body])
        sink = await send(open_wire(server.url))
        assert sink.body == b"hello"
        assert sink.headers == [(b"transfer-encoding", b"chunked")]

    async def test_at_once_where_the_status_allows_no_body(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, head(status="204 No Content")])
        assert (await send(open_wire(server.url))).status == 204

    @pytest.mark.parametrize("headers", [(), ("Transfer-Encoding: identity",), ("Connection: keep-alive",)])
    async def test_by_the_close_where_nothing_tells_its_length(
        self, serve: Serve, open_wire: OpenWire, headers: tuple[str, ...]
    ) -> None:
        server = await serve([ASKED, head(*headers), b"hel", b"lo", CLOSE])
        assert (await send(open_wire(server.url))).body == b"hello"

    async def test_a_broken_connection_is_no_such_close(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, head(), b"hel", 0.05, RESET])
        error = await failure_of(open_wire(server.url))
        assert (error.kind, error.received) == ("closed", True)

    async def test_of_an_http_1_0_answer(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"])
        assert (await send(open_wire(server.url))).body == b"hello"


class TestHeads:
    async def test_names_are_in_lower_case_and_values_as_sent(
        self, serve: Serve, open_wire: OpenWire
    ) -> None:
        server = await serve([ASKED, answer(b"", "X-Server: vLLM", "x-server: Two")])
        assert (await send(open_wire(server.url))).headers == [
            (b"content-length", b"0"),
            (b"x-server", b"vLLM"),
            (b"x-server", b"Two"),
        ]

    @pytest.mark.parametrize("status", ["100 Continue", "102 Processing", "103 Early Hints"])
    async def test_informational_responses_are_passed_over(
        self, serve: Serve, open_wire: OpenWire, status: str
    ) -> None:
        server = await serve([ASKED, head("Link: </style>", status=status) * 2, 0.01, answer(b"hello")])
        sink = await send(open_wire(server.url))
        assert (sink.status, sink.body, sink.headers) == (200, b"hello", [(b"content-length", b"5")])

    async def test_an_offer_to_upgrade_is_only_an_offer(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, answer(b"hello", "Upgrade: h2c", "Connection: upgrade")])
        assert (await send(open_wire(server.url))).body == b"hello"

    async def test_the_request_goes_out_as_given(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, answer()])
        await send(open_wire(server.url))
        (request,) = server.requests
        assert (request.line, request.headers["host"], request.body) == (
            "POST /v1/x HTTP/1.1",
            "test",
            b"question",
        )


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this host has no IPv6 loopback address")
async def test_servers_with_an_ipv6_address_answer_as_well(serve: Serve, open_wire: OpenWire) -> None:
    server = await serve([ASKED, answer(b"hello")], host="::1")
    assert server.url == f"http://[::1]:{server.port}"
    assert (await send(open_wire(server.url))).body == b"hello"


class TestMoments:
    async def test_every_piece_has_the_moment_at_which_it_came(
        self, serve: Serve, open_wire: OpenWire
    ) -> None:
        server = await serve([ASKED, 0.03, head("Content-Length: 2"), 0.03, b"a", 0.03, b"b"])
        before = perf_counter_ns()
        sink = Collected()
        delivery = await open_wire(server.url).send(CALL, sink)
        moments = [before, delivery.sent_at, *sink.moments]
        assert moments == sorted(moments)
        assert len(set(sink.moments)) == 3
        assert sink.moments[-1] - delivery.sent_at > 80_000_000
        assert delivery.ended_at == sink.moments[-1]

    async def test_bytes_that_lie_unread_show_as_detect_lag(self, open_wire: OpenWire) -> None:
        loop = asyncio.get_running_loop()
        blocked, sent = threading.Event(), threading.Event()

        def block_the_loop() -> None:
            blocked.set()
            assert sent.wait(5)
            time.sleep(0.1)

        def answer_while_it_is_blocked(listener: socket.socket) -> None:
            peer, _ = listener.accept()
            with peer:
                peer.recv(65536)
                loop.call_soon_threadsafe(block_the_loop)
                assert blocked.wait(5)
                peer.sendall(answer())
                sent.set()

        with socket.create_server(("127.0.0.1", 0)) as listener:
            serving = asyncio.create_task(asyncio.to_thread(answer_while_it_is_blocked, listener))
            wire = open_wire(f"http://127.0.0.1:{listener.getsockname()[1]}")
            delivery = await wire.send(CALL, Collected())
            await serving
        assert delivery.detect_lag_ns > 50_000_000


def test_to_look_at_a_socket_leaves_it_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        waiting = watch_socket(listener)
        assert waiting is not None
        assert waiting.wait_ns() >= 0
        del waiting
        assert listener.getsockname()[1]
    assert watch_socket(listener) is None


class NoNetwork(asyncio.Transport):
    """A transport that goes nowhere: the test itself hands the connection its bytes."""

    def write(self, data: object) -> None:
        pass

    def abort(self) -> None:
        pass


ANSWERS = {
    "length": answer(b"hello"),
    "chunks": chunked([b"h", b"el", b"lo"]),
    "informational": head(status="100 Continue") + answer(b"hello"),
    "trailers": head("Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\nX-A: 1\r\n\r\n",
}


@given(name=st.sampled_from(sorted(ANSWERS)), cuts=st.sets(st.integers(1, 80)))
def test_an_answer_is_the_same_however_the_network_cuts_it(name: str, cuts: set[int]) -> None:
    received = ANSWERS[name]
    edges = [0, *sorted(cut for cut in cuts if cut < len(received)), len(received)]
    loop = asyncio.new_event_loop()
    connection, sink = Connection(loop), Collected()
    connection.connection_made(NoNetwork())
    exchange = connection.start_exchange(b"", sink)
    for start, end in pairwise(edges):
        assert not exchange.done.done()
        connection.data_received(received[start:end])
    loop.close()
    assert exchange.done.result() is None
    assert (sink.status, sink.body) == (200, b"hello")
    assert connection.open
