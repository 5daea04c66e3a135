"""The limits of an exchange, held by one sweeper that looks every now and then."""

from __future__ import annotations

import asyncio
import socket
from time import perf_counter

import pytest
from tests.endpoint.http_kit import OpenWire, answer, failure_of, head, send
from tests.endpoint.scripted_server import AGAIN, ASKED, Serve, until

from benchwright.endpoint.timeouts import MAX_UNINTERRUPTED_CHECKS


async def test_connecting_takes_no_longer_than_its_limit(open_wire: OpenWire) -> None:
    with socket.socket() as full:  # a backlog of one, filled: further connections get no reply
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        fillers = [socket.socket() for _ in range(3)]
        try:
            for filler in fillers:
                filler.setblocking(False)
                filler.connect_ex(full.getsockname())
            started = perf_counter()
            error = await failure_of(
                open_wire(f"http://127.0.0.1:{full.getsockname()[1]}", connect_seconds=0.1)
            )
        finally:
            for filler in fillers:
                filler.close()
    assert (error.kind, str(error)) == ("connect_timeout", "no connection within 0.1 s")
    assert 0.09 < perf_counter() - started < 5


async def test_the_first_byte_takes_no_longer_than_the_read_limit(serve: Serve, open_wire: OpenWire) -> None:
    server = await serve([ASKED])
    started = perf_counter()
    error = await failure_of(open_wire(server.url, read_seconds=0.1))
    assert (error.kind, str(error), error.received) == ("read_timeout", "no answer within 0.1 s", False)
    assert 0.09 < perf_counter() - started < 5
    await until(lambda: server.open == 0)


async def test_every_one_of_many_exchanges_is_held_to_its_limit(serve: Serve, open_wire: OpenWire) -> None:
    """More than are looked at without a break."""
    many = MAX_UNINTERRUPTED_CHECKS + 50
    server = await serve([ASKED])
    wire = open_wire(server.url, connections=many, read_seconds=0.3)
    errors = await asyncio.gather(*[failure_of(wire) for _ in range(many)])
    assert {error.kind for error in errors} == {"read_timeout"}


@pytest.mark.parametrize("part", [b"HTTP/1.1", head("Content-Length: 9"), answer(b"hello")[:-1]])
async def test_no_pause_within_an_answer_is_longer_than_the_stall_limit(
    serve: Serve, open_wire: OpenWire, part: bytes
) -> None:
    server = await serve([ASKED, part])
    error = await failure_of(open_wire(server.url, stall_seconds=0.1))
    assert (error.kind, str(error), error.received) == ("stall", "the answer stalled for 0.1 s", True)
    await until(lambda: server.open == 0)


async def test_an_answer_that_keeps_coming_ends_at_the_total_limit(serve: Serve, open_wire: OpenWire) -> None:
    server = await serve([ASKED, head(), b"x", 0.01, *[b"x", 0.01] * 200])
    error = await failure_of(open_wire(server.url, stall_seconds=0.1, total_seconds=0.2))
    assert (error.kind, str(error)) == ("total_timeout", "the answer did not end within 0.2 s")
    assert error.received


async def test_a_slow_answer_within_its_limits_is_fine(serve: Serve, open_wire: OpenWire) -> None:
    server = await serve([ASKED, 0.03, head("Content-Length: 9"), *[0.03, b"abc"] * 3])
    assert (
        await send(open_wire(server.url, read_seconds=1, stall_seconds=1, total_seconds=5))
    ).body == b"abcabcabc"


async def test_waiting_for_a_turn_counts_for_no_limit(serve: Serve, open_wire: OpenWire) -> None:
    server = await serve([ASKED, 0.1, answer(b"hello"), AGAIN])
    wire = open_wire(server.url, read_seconds=0.35, total_seconds=0.35)
    sinks = await asyncio.gather(*(send(wire) for _ in range(4)))
    assert [sink.body for sink in sinks] == [b"hello"] * 4


async def test_the_limits_count_anew_for_every_request(serve: Serve, open_wire: OpenWire) -> None:
    server = await serve([ASKED, 0.1, answer(b"hello"), AGAIN])
    wire = open_wire(server.url, read_seconds=0.35, total_seconds=0.35)
    for _ in range(4):
        assert (await send(wire)).body == b"hello"


async def test_one_that_stalls_does_not_touch_the_others(serve: Serve, open_wire: OpenWire) -> None:
    server = await serve([ASKED, b"HTTP"], [ASKED, head("Content-Length: 9"), *[0.05, b"x"] * 9])
    wire = open_wire(server.url, connections=2, stall_seconds=0.25)
    error, sink = await asyncio.gather(failure_of(wire), send(wire))
    assert (error.kind, sink.body) == ("stall", b"x" * 9)
