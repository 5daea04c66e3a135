"""What the tests of the sandbox share: programs in Python, and a look for survivors on the whole machine."""

from __future__ import annotations

import asyncio
import secrets
import textwrap
import time
from pathlib import Path
from typing import Any

from benchwright.sandbox import Limits, LocalSandbox, SandboxResult

SMALL = Limits(wall_seconds=5, cpu_seconds=4, memory_bytes=128 * 2**20, processes=16)


async def run_source(
    sandbox: LocalSandbox, source: str, limits: Limits = SMALL, **more: Any
) -> SandboxResult:
    """Runs Python source as a program of its own."""
    files = {"main.py": textwrap.dedent(source).encode()}
    return await sandbox.run(["python3", "main.py"], files=files, limits=limits, **more)


def unmistakable_seconds() -> str:
    """A time to sleep that no other process on the machine was started with."""
    return f"{secrets.randbelow(10**6) + 1000}.{secrets.randbelow(10**9):09d}"


def alive_with(argument: str) -> list[int]:
    """All processes of the machine with this among their arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if argument.encode() in arguments:
            found.append(int(path.parent.name))
    return found


async def alive_within(argument: str, seconds: float, *, processes: int = 1) -> bool:
    deadline = time.monotonic() + seconds
    while len(alive_with(argument)) < processes:
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.02)
    return True


async def gone_within(argument: str, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while alive_with(argument):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.02)
    return True
