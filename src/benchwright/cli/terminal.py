"""A person at a terminal, or at the other end of a pipe."""

from __future__ import annotations

import asyncio
import select
import sys

from benchwright.cli.output import echo

LOOK_EVERY = 0.02
"""Seconds between two looks for a line."""


class Terminal:
    """Shows text on stdout, its control characters and our secrets taken out, and reads lines from stdin.

    Nothing is read ahead, so that a debugger in the agent finds what is typed for it.
    """

    def __init__(self) -> None:
        self._input = open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)  # noqa: SIM115

    def show(self, text: str) -> None:
        """Shows some lines."""
        echo(text)

    async def ask(self, prompt: str) -> str | None:
        """Asks for a line; None at the end of the input. The event loop goes on meanwhile."""
        echo(prompt, end="")
        while not select.select([self._input], [], [], 0)[0]:  # noqa: ASYNC110 - no loop can wait for a file
            await asyncio.sleep(LOOK_EVERY)
        line = self._input.readline().decode(errors="replace")
        if not line or not self._input.isatty():
            echo(line.rstrip("\n"))
        return line.rstrip("\n") if line else None
