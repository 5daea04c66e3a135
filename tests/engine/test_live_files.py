"""Files that are kept up to date while something goes on: written now and then, never after the end."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from benchwright.engine import live_files
from benchwright.engine.live_files import writing_periodically
from benchwright.errors import JournalError


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_files, "WRITE_INTERVAL_SECONDS", 0.001)


async def test_they_are_written_while_the_loop_goes_on() -> None:
    written = asyncio.Event()
    loop, thread = asyncio.get_running_loop(), threading.get_ident()

    def write() -> None:
        assert threading.get_ident() != thread
        loop.call_soon_threadsafe(written.set)

    async with writing_periodically(write):
        await asyncio.wait_for(written.wait(), 30)


async def test_at_the_end_no_writing_is_under_way() -> None:
    begun, ended = threading.Event(), threading.Event()
    finish = threading.Event()

    def write() -> None:
        begun.set()
        finish.wait()
        ended.set()

    async with writing_periodically(write):
        await asyncio.to_thread(begun.wait)
        asyncio.get_running_loop().call_later(0.05, finish.set)
    assert ended.is_set()


async def test_writing_that_takes_long_is_done_less_often() -> None:
    calls = []
    written = asyncio.Event()
    loop = asyncio.get_running_loop()

    def write() -> None:
        calls.append(1)
        time.sleep(0.05)  # so that the next time is 2.5 seconds later
        loop.call_soon_threadsafe(written.set)

    async with writing_periodically(write):
        await asyncio.wait_for(written.wait(), 30)
        await asyncio.sleep(0.3)
        assert len(calls) == 1


async def test_after_an_error_nothing_is_written_any_more_and_the_run_goes_on() -> None:
    calls = []
    failed = asyncio.Event()
    loop = asyncio.get_running_loop()

    def write() -> None:
        calls.append(1)
        loop.call_soon_threadsafe(failed.set)
        raise JournalError("the disk is full")

    async with writing_periodically(write):
        await asyncio.wait_for(failed.wait(), 30)
        await asyncio.sleep(0.1)
    assert len(calls) == 1
