"""Prints text for a person and reads the person's input, at a terminal or through a pipe."""

from __future__ import annotations

import asyncio
import select
import sys

from benchwright.cli.output import echo

POLL_INTERVAL = 0.02
"""Seconds between two checks for input."""


class Terminal:
    """Prints text on stdout, without control characters and secrets, and reads lines from stdin.

    Lines are read only when they are needed, so that a debugger in the agent gets the input that is meant for it.
    """

    def __init__(self) -> None:
        self._input = open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)  # noqa: SIM115

    def show(self, text: str) -> None:
        """Print a text of one or more lines."""
        echo(text)

    async def ask(self, prompt: str) -> str | None:
        """Print a prompt and return the line that the person types. Return None at the end of the input.

        The event loop is not blocked while waiting.
        """
        echo(prompt, end="")
        while not select.select([self._input], [], [], 0)[0]:  # noqa: ASYNC110 - no loop can wait for a file
            await asyncio.sleep(POLL_INTERVAL)
        line = self._input.readline().decode(errors="replace")
        if not line or not self._input.isatty():
            echo(line.rstrip("\n"))
        return line.rstrip("\n") if line else None
