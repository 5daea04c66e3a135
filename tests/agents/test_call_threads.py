"""Plain functions run off the event loop."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from benchwright.agents.call_threads import CallThreads


async def test_a_function_runs_in_another_thread_and_its_result_comes_back() -> None:
    def where(offset: int) -> tuple[int, int]:
        return threading.get_ident(), offset + 1

    thread, value = await CallThreads().call(where, {"offset": 1})
    assert thread != threading.get_ident()
    assert value == 2


@pytest.mark.parametrize("error", [ValueError("bad"), SystemExit(2)])
async def test_what_it_raises_comes_back(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        await CallThreads().call(fail, {})
    assert caught.value is error


async def test_a_function_that_runs_out_of_its_iterator_does_not_hang_the_caller() -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        await CallThreads().call(lambda: next(iter([])), {})


async def test_short_calls_share_one_thread() -> None:
    threads = CallThreads()
    seen = await asyncio.gather(*(threads.call(threading.get_ident, {}) for _ in range(50)))
    assert len(set(seen)) == 1


async def test_calls_that_wait_behind_slow_ones_get_threads_of_their_own() -> None:
    meeting = threading.Barrier(4)

    def meet() -> int:
        return meeting.wait(timeout=30)

    threads = CallThreads()
    places = await asyncio.gather(*(threads.call(meet, {}) for _ in range(4)))
    assert sorted(places) == [0, 1, 2, 3]


async def test_one_that_never_returns_holds_nobody_up() -> None:
    threads = CallThreads()
    forever = threading.Event()
    hanging = asyncio.ensure_future(threads.call(forever.wait, {}))
    assert await asyncio.wait_for(threads.call(lambda: "done", {}), timeout=30) == "done"
    forever.set()
    assert await hanging is True


async def test_a_call_that_nobody_waits_for_any_more_is_dropped() -> None:
    threads = CallThreads()
    release = threading.Event()
    abandoned = asyncio.ensure_future(threads.call(release.wait, {}))
    await asyncio.sleep(0)
    abandoned.cancel()
    with pytest.raises(asyncio.CancelledError):
        await abandoned
    release.set()
    assert await threads.call(lambda: "next", {}) == "next"


def test_threads_serve_one_event_loop_after_another() -> None:
    threads = CallThreads()

    async def ask() -> str:
        return await threads.call(lambda: "answer", {})

    assert [asyncio.run(ask()) for _ in range(3)] == ["answer"] * 3


def test_an_answer_for_an_event_loop_that_has_ended_is_dropped() -> None:
    threads = CallThreads()
    started, release = threading.Event(), threading.Event()

    def wait_long() -> None:
        started.set()
        release.wait()

    async def abandon() -> None:
        call = asyncio.ensure_future(threads.call(wait_long, {}))
        await asyncio.to_thread(started.wait)
        call.cancel()

    async def ask() -> str:
        return await threads.call(lambda: "answer", {})

    asyncio.run(abandon())
    release.set()
    assert asyncio.run(ask()) == "answer"


async def test_idle_threads_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwright.agents.call_threads.MAX_IDLE_SECONDS", 0.01)
    threads = CallThreads()
    worker = await threads.call(threading.current_thread, {})
    worker.join(timeout=30)
    assert not worker.is_alive()
    assert await threads.call(time.monotonic, {}) > 0
