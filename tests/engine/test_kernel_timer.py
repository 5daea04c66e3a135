"""The kernel's timer: everybody is woken, in order, and nothing stays open."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter_ns

import pytest

from benchwright.engine import kernel_timer
from benchwright.engine.kernel_timer import KernelTimer
from benchwright.engine.precise_waits import wait_until
from benchwright.engine.thread_priority import can_raise_thread_priority

MS = 1_000_000

pytestmark = pytest.mark.skipif(kernel_timer._libc is None, reason="the timer is one of Linux")


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_moments_are_reached_in_their_order_and_not_before() -> None:
    timer, reached = KernelTimer(), list[int]()
    now = perf_counter_ns()

    async def wait(milliseconds: int) -> None:
        assert await timer.wait_until(now + milliseconds * MS)
        assert perf_counter_ns() >= now + milliseconds * MS
        reached.append(milliseconds)

    await asyncio.gather(*(wait(each) for each in (9, 3, 30, 3, 15)))
    assert reached == [3, 3, 9, 15, 30]


async def test_a_moment_that_is_past_is_reached_at_once() -> None:
    assert await KernelTimer().wait_until(perf_counter_ns() - MS)


async def test_who_gives_up_holds_up_nobody() -> None:
    timer, now = KernelTimer(), perf_counter_ns()
    gives_up = asyncio.ensure_future(timer.wait_until(now + 5 * MS))
    waits = asyncio.ensure_future(timer.wait_until(now + 20 * MS))
    await asyncio.sleep(0)
    gives_up.cancel()
    assert await waits


async def test_nothing_is_open_when_nobody_waits() -> None:
    timer, before = KernelTimer(), open_files()
    waiting = [asyncio.ensure_future(timer.wait_until(perf_counter_ns() + 60_000 * MS)) for _ in range(3)]
    await asyncio.sleep(0)
    assert open_files() > before
    for one in waiting:
        one.cancel()
    await asyncio.wait(waiting)
    assert open_files() == before
    assert await timer.wait_until(perf_counter_ns() + MS)


async def test_without_a_descriptor_to_be_had_the_event_loop_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_timer, "_libc", None)
    moment = perf_counter_ns() + 5 * MS
    assert not await KernelTimer().wait_until(moment)
    await wait_until(moment)
    assert perf_counter_ns() >= moment


def test_each_event_loop_has_its_own() -> None:
    before = open_files()
    for _ in range(3):
        asyncio.run(wait_until(perf_counter_ns() + 2 * MS))
    assert open_files() == before


@pytest.mark.skipif(
    not can_raise_thread_priority(), reason="the kernel lets no program of this user go before others"
)
async def test_nobody_interrupts_those_that_are_woken_until_they_have_sent() -> None:
    timer, policies = KernelTimer(), list[int]()
    moment = perf_counter_ns() + 50 * MS

    async def send() -> None:
        assert await timer.wait_until(moment)
        policies.append(policy())

    sending = asyncio.gather(send(), send())
    await asyncio.sleep(0.005)
    assert policy() == os.SCHED_OTHER, "it is urgent while it only waits"
    await sending
    await asyncio.sleep(0)
    assert policies == [os.SCHED_RR, os.SCHED_RR]
    assert policy() == os.SCHED_OTHER


def test_a_program_with_a_policy_of_its_own_keeps_it() -> None:
    batch = "import os; os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))"
    asks = (
        "from benchwright.engine.thread_priority import can_raise_thread_priority; "
        "print(can_raise_thread_priority(), os.sched_getscheduler(0))"
    )
    told = subprocess.run(
        [sys.executable, "-c", f"{batch}; {asks}"], check=True, capture_output=True, text=True
    )
    assert told.stdout == f"False {os.SCHED_BATCH}\n"


def policy() -> int:
    return os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK
