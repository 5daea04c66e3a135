"""Which connections the wire keeps, uses again, replaces and closes."""

from __future__ import annotations

import asyncio
import gc

import pytest
from tests.endpoint.http_kit import CALL, Collected, OpenWire, answer, chunked, failure_of, head, send
from tests.endpoint.scripted_server import AGAIN, ASKED, CLOSE, RESET, ScriptedServer, Serve, Step, until

from benchwright.endpoint.connection import TransportError
from benchwright.endpoint.transport import ConnectionPool

HELLO = answer(b"hello")


class TestKeepAlive:
    @pytest.mark.parametrize(
        "reply",
        [
            HELLO,
            chunked([b"hello"]),
            b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello",
        ],
    )
    async def test_a_connection_serves_one_request_after_the_other(
        self, serve: Serve, open_wire: OpenWire, reply: bytes
    ) -> None:
        server = await serve([ASKED, reply, AGAIN])
        wire = open_wire(server.url, connections=8)
        for _ in range(5):
            assert (await send(wire)).body == b"hello"
        assert (server.connections, len(server.requests)) == (1, 5)

    @pytest.mark.parametrize(
        "reply",
        [answer(b"hello", "Connection: close"), b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"],
    )
    async def test_unless_the_answer_says_otherwise(
        self, serve: Serve, open_wire: OpenWire, reply: bytes
    ) -> None:
        server = await serve([ASKED, reply])
        wire = open_wire(server.url)
        for _ in range(3):
            assert (await send(wire)).body == b"hello"
        assert server.connections == 3
        await until(lambda: server.open == 0)

    async def test_opening_takes_time_only_the_first_time(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, HELLO, AGAIN])
        wire = open_wire(server.url)
        first = await wire.send(CALL, Collected())
        second = await wire.send(CALL, Collected())
        assert first.connect_ns > 0
        assert second.connect_ns == 0

    async def test_a_connection_that_waited_too_long_is_not_used(
        self, serve: Serve, open_wire: OpenWire, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server = await serve([ASKED, HELLO, AGAIN])
        wire = open_wire(server.url)
        await send(wire)
        monkeypatch.setattr("benchwright.endpoint.transport.IDLE_LIMIT_NS", 0)
        await send(wire)
        assert server.connections == 2


class TestHowManyConnections:
    @pytest.mark.parametrize(("requests", "connections"), [(1, 4), (20, 1), (50, 7), (30, 30)])
    async def test_never_more_than_allowed(
        self, serve: Serve, open_wire: OpenWire, requests: int, connections: int
    ) -> None:
        server = await serve([ASKED, 0.002, HELLO, AGAIN])
        wire = open_wire(server.url, connections=connections)
        sinks = await asyncio.gather(*(send(wire) for _ in range(requests)))
        assert [sink.body for sink in sinks] == [b"hello"] * requests
        assert server.connections == server.most_open == min(requests, connections)

    async def test_nor_does_trouble_leave_more_behind(self, serve: Serve, open_wire: OpenWire) -> None:
        good = [ASKED, HELLO, ASKED, answer(b"hello", "Connection: close")]
        broken = [ASKED, 0.003, head("Content-Length: 9"), RESET]
        server = await serve(*[good, broken] * 40)
        wire = open_wire(server.url, connections=5)

        async def ask(number: int) -> bool:
            try:
                async with asyncio.timeout(0.004 if number % 3 == 0 else 5):
                    return bool(await send(wire))
            except (TimeoutError, TransportError):
                return False

        answered = await asyncio.gather(*(ask(number) for number in range(60)))
        assert {True, False} == set(answered)
        await until(lambda: server.open <= 5)
        assert sum(await asyncio.gather(*(ask(1) for _ in range(20)))) > 0

    async def test_a_request_waits_for_its_turn_and_says_how_long(
        self, serve: Serve, open_wire: OpenWire
    ) -> None:
        server = await serve([ASKED, 0.05, HELLO, AGAIN])
        wire = open_wire(server.url)
        first, second = await asyncio.gather(*(wire.send(CALL, Collected()) for _ in range(2)))
        assert max(40_000_000, first.queued_ns) < second.queued_ns
        assert first.ended_at <= second.sent_at


class TestStaleConnections:
    @pytest.mark.parametrize("how", [CLOSE, RESET])
    async def test_one_that_the_server_closed_while_it_waited_is_replaced(
        self, serve: Serve, open_wire: OpenWire, how: Step
    ) -> None:
        server = await serve([ASKED, HELLO, how], [ASKED, HELLO])
        wire = open_wire(server.url)
        await send(wire)
        await until(lambda: server.open == 0)
        assert (await send(wire)).body == b"hello"
        assert (server.connections, len(server.requests)) == (2, 2)

    @pytest.mark.parametrize("how", [CLOSE, RESET])
    async def test_one_that_closes_on_the_next_request_is_replaced(
        self, serve: Serve, open_wire: OpenWire, how: Step
    ) -> None:
        server = await serve([ASKED, HELLO, ASKED, how], [ASKED, HELLO])
        wire = open_wire(server.url)
        await send(wire)
        assert (await send(wire)).body == b"hello"
        assert [request.connection for request in server.requests] == [0, 0, 1]

    async def test_but_only_once(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, HELLO, ASKED, CLOSE], [ASKED, CLOSE])
        wire = open_wire(server.url)
        await send(wire)
        assert (await failure_of(wire)).kind == "closed"
        assert len(server.requests) == 3

    async def test_and_not_after_the_first_byte(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, HELLO, ASKED, b"H", 0.02, CLOSE])
        wire = open_wire(server.url)
        await send(wire)
        error = await failure_of(wire)
        assert (error.kind, error.received) == ("closed", True)
        assert len(server.requests) == 2

    async def test_nor_after_a_limit(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, HELLO, ASKED])
        wire = open_wire(server.url, read_seconds=0.05)
        await send(wire)
        assert (await failure_of(wire)).kind == "read_timeout"
        assert len(server.requests) == 2

    async def test_the_others_that_wait_are_closed_too(self, serve: Serve, open_wire: OpenWire) -> None:
        old = [ASKED, 0.02, HELLO, ASKED, CLOSE]
        server = await serve(old, old, old, [ASKED, HELLO, AGAIN])
        wire = open_wire(server.url, connections=3)
        await asyncio.gather(*(send(wire) for _ in range(3)))
        for _ in range(3):
            await send(wire)
        assert server.connections == 4

    async def test_the_lost_time_is_told_apart(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, HELLO, ASKED, 0.05, CLOSE], [ASKED, HELLO])
        wire = open_wire(server.url)
        await send(wire)
        delivery = await wire.send(CALL, Collected())
        assert delivery.lost > 40_000_000
        assert delivery.queued_ns < 40_000_000, "it waited for no connection"


class TestBytesThatNobodyAskedFor:
    @pytest.mark.parametrize(
        "more",
        [
            HELLO,
            b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nstale",
            b"HTTP/1.1 408 Req",
            b"garbage",
            b"\0",
        ],
    )
    @pytest.mark.parametrize("later", [True, False], ids=["later", "with the answer"])
    async def test_never_become_the_next_answer(
        self, serve: Serve, open_wire: OpenWire, more: bytes, later: bool
    ) -> None:
        first = [ASKED, HELLO, 0.01, more] if later else [ASKED, HELLO + more]
        server = await serve(first, [ASKED, answer(b"second")])
        wire = open_wire(server.url)
        assert (await send(wire)).body == b"hello"
        await until(lambda: server.open == 0)
        assert (await send(wire)).body == b"second"


class TestCancelling:
    @pytest.mark.parametrize(
        "so_far",
        [b"", b"HTTP/1.1 2", head("Content-Length: 9"), answer(b"hello")[:-1]],
        ids=["nothing", "a few bytes", "the head", "most"],
    )
    async def test_closes_the_connection_and_never_pools_it(
        self, serve: Serve, open_wire: OpenWire, so_far: bytes
    ) -> None:
        server = await serve([ASKED, so_far], [ASKED, HELLO])
        wire = open_wire(server.url)
        await self._cancel_after_asking(wire, server)
        await until(lambda: server.open == 0)
        assert (await send(wire)).body == b"hello"

    async def test_while_waiting_for_a_turn_gives_the_turn_to_the_next(
        self, serve: Serve, open_wire: OpenWire
    ) -> None:
        server = await serve([ASKED, 0.05, HELLO, AGAIN])
        wire = open_wire(server.url)
        first, second, third = (asyncio.create_task(send(wire)) for _ in range(3))
        await until(lambda: len(server.requests) == 1)
        second.cancel()
        assert [(await task).body for task in (first, third)] == [b"hello"] * 2
        assert (second.cancelled(), len(server.requests)) == (True, 2)

    async def test_while_connecting(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, HELLO])
        wire = open_wire(server.url)
        task = asyncio.create_task(send(wire))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        assert (await send(wire)).body == b"hello"
        await until(lambda: server.open == 1)

    async def test_at_the_moment_the_connection_breaks(
        self, serve: Serve, open_wire: OpenWire, complaints: list[str]
    ) -> None:
        server = await serve([ASKED, 0.02, RESET])
        wire = open_wire(server.url, connections=20)
        tasks = [asyncio.create_task(send(wire)) for _ in range(20)]
        for number, task in enumerate(tasks):
            asyncio.get_running_loop().call_later(0.015 + number / 1000, task.cancel)
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(outcome, TransportError | asyncio.CancelledError) for outcome in outcomes)
        del tasks, outcomes
        gc.collect()
        await asyncio.sleep(0)
        assert complaints == []

    async def _cancel_after_asking(self, wire: ConnectionPool, server: ScriptedServer) -> None:
        task = asyncio.create_task(send(wire))
        await until(lambda: bool(server.requests))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


class TestClosing:
    async def test_closes_the_connections_that_wait(self, serve: Serve, open_wire: OpenWire) -> None:
        server = await serve([ASKED, HELLO])
        wire = open_wire(server.url)
        await send(wire)
        wire.close()
        await until(lambda: server.open == 0)

    async def test_fails_what_is_under_way_and_what_waits_and_sends_nothing_again(
        self, serve: Serve, open_wire: OpenWire
    ) -> None:
        server = await serve([ASKED, HELLO, ASKED])
        wire = open_wire(server.url)
        await send(wire)
        tasks = [asyncio.create_task(failure_of(wire)) for _ in range(3)]
        await until(lambda: len(server.requests) == 2)
        wire.close()
        assert [(await task).kind for task in tasks] == ["client_closed"] * 3
        assert len(server.requests) == 2
        await until(lambda: server.open == 0)
