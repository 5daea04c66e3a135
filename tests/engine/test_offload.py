"""Work in other processes: its value, its error, its end; and an event loop that goes on meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from benchwright.engine.offload import offload, offload_processes
from benchwright.errors import GraderError


async def test_the_value_comes_back_from_another_process() -> None:
    async with offload_processes():
        assert await offload(divmod, 17, 5) == (3, 2)
        assert await offload(os.getpid) != os.getpid()


async def test_what_is_raised_there_is_raised_here() -> None:
    async with offload_processes():
        with pytest.raises(ZeroDivisionError):
            await offload(divmod, 1, 0)
        assert await offload(divmod, 1, 1) == (1, 0)


async def test_the_loop_goes_on_while_a_process_is_busy() -> None:
    async with offload_processes():
        busy = asyncio.create_task(offload(time.sleep, 0.5))
        ticks = 0
        while not busy.done():
            await asyncio.sleep(0.01)
            ticks += 1
        assert ticks > 10


async def test_what_is_printed_there_gets_between_nothing() -> None:
    async with offload_processes():
        printing: Callable[[str], object] = print
        assert await offload(printing, "hello") is None
        assert await offload(abs, -3) == 3


async def test_a_process_that_is_killed_is_a_grader_error_and_the_next_call_gets_another() -> None:
    async with offload_processes():
        victim = await offload(os.getpid)
        with pytest.raises(GraderError, match="ended from outside"):
            await offload(os.kill, victim, signal.SIGKILL)
        assert await offload(abs, -3) == 3


async def test_a_call_that_takes_too_long_ends_with_its_process_and_the_next_one_gets_another() -> None:
    """Arithmetic on large whole numbers hears no signal: only killing ends it."""
    async with offload_processes():
        pid = await offload(os.getpid)
        with pytest.raises(TimeoutError):
            await offload(pow, 9, 9**9, seconds=0.3)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        assert await offload(abs, -3, seconds=60) == 3


BUSY = """
import os, time
end = time.process_time() + {seconds}
while time.process_time() < end:
    pass
"""

KEEPER = "import os; os.environ['PREPARED'] = str(os.getpid())"


async def test_what_is_prepared_counts_for_nothing() -> None:
    slow = partial(exec, BUSY.format(seconds=1.5))
    async with offload_processes():
        assert await offload(abs, -3, seconds=0.5, prepare=slow) == 3


async def test_it_is_still_there_after_a_process_was_ended() -> None:
    prepare = partial(exec, KEEPER)
    async with offload_processes():
        before, pid = [
            await offload(call, *args, prepare=prepare)
            for call, *args in ((os.getenv, "PREPARED"), (os.getpid,))
        ]
        with pytest.raises(TimeoutError):
            await offload(pow, 9, 9**9, seconds=0.3, prepare=prepare)
        assert await offload(os.getenv, "PREPARED", prepare=prepare) == before
        assert await offload(os.getpid, prepare=prepare) != pid


async def test_only_cpu_time_counts() -> None:
    async with offload_processes():
        await offload(time.sleep, 1.0, seconds=0.2)


async def test_beside_many_other_programs_nothing_takes_longer() -> None:
    """What is right stays right on a busy machine."""
    others = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))
    ]
    try:
        async with offload_processes():
            calls = [offload(exec, BUSY.format(seconds=0.3), seconds=1.0) for _ in range(3)]
            assert await asyncio.gather(*calls) == [None] * 3
    finally:
        for other in others:
            other.kill()
            other.wait()


async def test_what_takes_too_long_is_tried_once_more_alone(tmp_path: Path) -> None:
    tried = tmp_path / "tried"
    code = f"""
import pathlib, time
tried = pathlib.Path({str(tried)!r})
if not tried.exists():
    tried.touch()
    while True:
        pass
tried.write_text("twice")
"""
    async with offload_processes():
        await offload(exec, code, seconds=0.5)
    assert tried.read_text() == "twice"


async def test_a_process_that_gives_no_answer_is_a_grader_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwright.engine.offload.MAX_WALL_TO_CPU_RATIO", 5.0)
    async with offload_processes():
        with pytest.raises(GraderError, match=r"gave no answer in 1 s"):
            await offload(time.sleep, 60, seconds=0.2)
        assert await offload(abs, -3) == 3


async def test_a_preparation_that_fails_is_raised_here() -> None:
    async with offload_processes():
        with pytest.raises(ZeroDivisionError):
            await offload(abs, -3, prepare=partial(divmod, 1, 0))


async def test_a_process_whose_keeper_was_killed_is_a_grader_error() -> None:
    async with offload_processes():
        with pytest.raises(GraderError, match="ended from outside"):
            await offload(exec, "import os, time; os.kill(os.getppid(), 9); time.sleep(2)")
        assert await offload(abs, -3) == 3


async def test_waiting_for_a_process_is_not_counted() -> None:
    async with offload_processes():
        await offload(abs, -3)
        sleeping = [offload(time.sleep, 0.4, seconds=5) for _ in range(8)]
        await asyncio.gather(*sleeping, offload(abs, -3, seconds=1))


async def test_a_call_that_needs_too_much_memory_raises_here() -> None:
    async with offload_processes():
        with pytest.raises(MemoryError):
            await offload(bytearray, 64 * 2**30)
        assert await offload(abs, -3) == 3


async def test_a_call_that_is_given_up_takes_its_process_with_it() -> None:
    async with offload_processes():
        pid = await offload(os.getpid)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(offload(time.sleep, 60), 0.2)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        assert await offload(abs, -3) == 3


async def test_the_processes_end_with_the_run() -> None:
    async with offload_processes():
        pid = await offload(os.getpid)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
