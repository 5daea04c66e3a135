"""A long-lived program in the sandbox that reads and writes lines."""

from __future__ import annotations

import asyncio

from benchwright.errors import ExecutionError
from benchwright.sandbox.limits import Limits
from benchwright.sandbox.output import HeadAndTail
from benchwright.sandbox.running_program import RunningProgram
from benchwright.text import last_line


class SandboxProcess:
    """A long-lived untrusted program that answers in lines. Created by `LocalSandbox.start_process`."""

    def __init__(self, started: RunningProgram, limits: Limits) -> None:
        self._streams = started.process
        self._limits = limits
        self._errors = HeadAndTail(limits.kept_bytes)

    @property
    def stderr(self) -> bytes:
        """The beginning and the end of the program's stderr so far."""
        return self._errors.content()

    async def send(self, line: bytes) -> None:
        """Send one line, given without its line ending. Wait while the program reads too slowly.

        Raises:
            ExecutionError: If the program has ended.
        """
        assert b"\n" not in line, "one line at a time"
        assert self._streams.stdin is not None
        try:
            self._streams.stdin.write(line + b"\n")
            await self._streams.stdin.drain()
        except OSError:
            raise self._over() from None

    async def receive(self, timeout: float) -> bytes:
        """Return the next line without its line ending.

        Raises:
            ExecutionError: If there is no line within `timeout` seconds, if the line is longer than
                `line_bytes`, or if the program has ended.
        """
        assert self._streams.stdout is not None
        try:
            async with asyncio.timeout(timeout):
                line = await self._streams.stdout.readline()
        except TimeoutError:
            raise ExecutionError(f"the program in the sandbox wrote no line within {timeout:g} s") from None
        except ValueError:
            most = self._limits.line_bytes
            raise ExecutionError(
                f"the program in the sandbox wrote a line of more than {most} bytes"
            ) from None
        if not line.endswith(b"\n"):
            raise self._over()
        return line[:-1]

    def _over(self) -> ExecutionError:
        said = last_line(self.stderr.decode("utf-8", "replace"), 200)
        return ExecutionError("the program in the sandbox has ended" + (f": {said}" if said else ""))

    async def read_errors(self) -> None:
        """Collect stderr until the program ends, or until it has written more than `output_bytes` to stderr."""
        assert self._streams.stderr is not None
        while self._errors.total <= self._limits.output_bytes:
            data = await self._streams.stderr.read(2**16)
            if not data:
                return
            self._errors.feed(data)
