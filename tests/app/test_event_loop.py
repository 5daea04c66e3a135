"""The event loop that runs use, looked at in a program of its own."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc
from benchwright.app.loop import run_async

imported = [[] for _ in range(100_000)]

async def looked_through():
    return len(gc.get_objects())

print(run_async(looked_through()))
"""


def test_what_was_there_before_is_out_of_the_garbage_collectors_sight() -> None:
    """Looking through it would hold the event loop up for tens of milliseconds."""
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert int(ended.stdout) < 50_000
