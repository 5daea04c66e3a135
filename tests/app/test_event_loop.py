"""The event loop that runs use, looked at in a program of its own."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from contextlib import suppress

import pytest

from benchwright.app.event_loop import run_async

PROGRAM = """
import gc
from benchwright.app.event_loop import run_async

imported = [[] for _ in range(100_000)]

async def looked_through():
    return len(gc.get_objects())

print(run_async(looked_through()))
"""


def test_what_was_there_before_is_out_of_the_garbage_collectors_sight() -> None:
    """Looking through it would hold the event loop up for tens of milliseconds."""
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert int(ended.stdout) < 50_000


class Interrupts(asyncio.Protocol):
    def data_received(self, data: bytes) -> None:
        raise KeyboardInterrupt


def test_ctrl_c_in_a_callback_is_no_fault_of_the_callback(caplog: pytest.LogCaptureFixture) -> None:
    ours, theirs = socket.socketpair()

    async def read() -> None:
        transport, _ = await asyncio.get_running_loop().create_connection(Interrupts, sock=ours)
        theirs.send(b"x")
        while not transport.is_closing():
            await asyncio.sleep(0.001)

    with theirs, suppress(KeyboardInterrupt):
        run_async(read())
    assert caplog.text == ""
