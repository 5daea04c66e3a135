"""Runs one program in a container, within the program's limits."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import msgspec

from benchwright.sandbox.docker.commands import ContainerCommand, EndReason, ExecResult
from benchwright.sandbox.docker.containers import Container
from benchwright.sandbox.docker.errors import EngineError, convert_engine_errors
from benchwright.sandbox.docker.process_killing import count_memory_kills, kill_processes_since
from benchwright.sandbox.output import HeadAndTail

if TYPE_CHECKING:
    from aiodocker.execs import Exec
    from aiodocker.stream import Stream

KILLED_EXIT_CODE = 137
"""Exit code after SIGKILL, which the kernel sends when memory is exhausted."""

NO_EXIT_CODE = ExecResult("exited")
"""Result of a program without an exit code. The program closed its output and goes on, or its container ended."""

GRACE_SECONDS = 2.5
"""Seconds after a program's time limit at which the program is ended from outside the container."""
FIRST_LOOK, LAST_LOOK = 0.1, 1.0
"""Seconds between two checks whether a program is still running. `FIRST_LOOK`: the first pause.

`LAST_LOOK`: the longest pause. Each pause is 1.5 times as long as the pause before.
"""
OUTPUT_WAIT_SECONDS = 0.2

INPUT_CHUNK_BYTES = 64 * 1024
"""Number of bytes of a program's input that are sent at once."""

_WITH_LIMIT = (
    'limit=$1; shift; if timeout -k 1 9 true 2>/dev/null; then exec timeout -k 1 "$limit" "$@"; fi; exec "$@"'
)
"""Shell script that runs the program under `timeout`, if the image has a `timeout` that supports -k.

Otherwise (as with old busybox) the script runs the program directly, and the program is ended from outside
the container.
"""
_WITH_INPUT = 'head -c "$0" | "$@"'


async def execute(container: Container, command: ContainerCommand) -> ExecResult:
    """Run a program until it ends or reaches a limit. Return its result.

    Background processes that the program started continue, unless a limit was reached. Cancelling ends the
    program and every process that it started.

    Raises:
        EngineError: If the engine does not answer, or if somebody else ended the container.
    """
    began = time.monotonic()
    talk = _ProgramStreams(command)
    try:
        with convert_engine_errors("running a program in a container"):
            ended = await _run(container, command, talk, began)
    except asyncio.CancelledError:
        await asyncio.shield(kill_processes_since(container, began))
        raise
    except EngineError:
        if (await container.state_after_end()).get("Running"):
            raise
        ended = NO_EXIT_CODE
    if ended.exit_code == KILLED_EXIT_CODE or ended == NO_EXIT_CODE or container.trouble:
        ended = await _explained(container, ended)
    return talk.with_output(ended, time.monotonic() - began)


async def _run(
    container: Container, command: ContainerCommand, talk: _ProgramStreams, began: float
) -> ExecResult:
    program = await _prepare(container, command)
    async with program.start(detach=False) as stream:
        in_time = await talk.to_the_end(stream, program)
    exit_code = await _exit_code(program) if in_time and not talk.too_much else None
    late = time.monotonic() - began >= command.seconds and exit_code != 0
    if not late and not talk.too_much:
        return ExecResult("exited", exit_code)
    await kill_processes_since(container, began)
    return ExecResult("output" if talk.too_much else "timeout", exit_code)


async def _prepare(container: Container, command: ContainerCommand) -> Exec:
    argv = ["sh", "-c", _WITH_LIMIT, "sh", f"{command.seconds:.3f}".rstrip("0").rstrip("."), *command.argv]
    if command.stdin:
        argv = ["sh", "-c", _WITH_INPUT, str(len(command.stdin)), *argv]
    return await container.handle.exec(
        argv,
        stdin=bool(command.stdin),
        environment=dict(command.environment),
        workdir=command.cwd or None,
        user=command.user,
    )


async def _exit_code(program: Exec) -> int | None:
    code: int | None = (await program.inspect())["ExitCode"]
    return code


async def _explained(container: Container, ended: ExecResult) -> ExecResult:
    """Return the result. If memory was exhausted or the container ended, the cause is added.

    Raises:
        EngineError: If somebody else ended the container, rather than a limit.
    """
    kills = await count_memory_kills(container)
    if kills is not None:
        by_memory = kills > container.memory_kills and ended.reason == "exited"
        container.memory_kills = kills
        return ExecResult("memory", ended.exit_code) if by_memory else ended
    state = await container.state_after_end()
    if state.get("Running"):
        return ended
    reason: EndReason = ended.reason
    if container.over_disk:
        reason = "disk"
    elif state.get("OOMKilled") and not container.trouble:
        reason = "memory"
    if reason == "exited":
        raise EngineError(f"the container has ended: {container.trouble or 'it was removed from outside'}")
    return ExecResult(reason, detail=container.trouble, container_ended=True)


class _ProgramStreams:
    """Sends a running program its input, and collects the program's output."""

    def __init__(self, command: ContainerCommand) -> None:
        self._command = command
        self._output, self._errors = HeadAndTail(command.kept_bytes), HeadAndTail(command.kept_bytes)

    @property
    def _total(self) -> int:
        return self._output.total + self._errors.total

    @property
    def too_much(self) -> bool:
        return self._total > self._command.output_bytes

    async def to_the_end(self, stream: Stream, program: Exec) -> bool:
        """Wait until a program ends or writes too much. Return False if neither happens within the program's time.

        If a background process keeps the output open, the engine reports the end of the output only 2 s after
        the program's end. Therefore the program's state is checked, too.
        """
        reading = asyncio.ensure_future(self._read(stream))
        feeding = asyncio.ensure_future(self._feed(stream))
        deadline = time.monotonic() + self._command.seconds + GRACE_SECONDS
        pause = FIRST_LOOK
        try:
            while (left := deadline - time.monotonic()) > 0:
                await asyncio.wait([reading], timeout=min(pause, left))
                if reading.done():
                    reading.result()
                    return True
                if not (await program.inspect())["Running"]:
                    await self._drain(reading)
                    return True
                pause = min(1.5 * pause, LAST_LOOK)
            return False
        finally:
            for task in (reading, feeding):
                task.cancel()

    async def _drain(self, reading: asyncio.Task[None]) -> None:
        """Continue to read the output until no more output arrives."""
        seen = -1
        while seen != self._total and not reading.done():
            seen = self._total
            await asyncio.wait([reading], timeout=OUTPUT_WAIT_SECONDS)

    async def _read(self, stream: Stream) -> None:
        while not self.too_much and (message := await stream.read_out()) is not None:
            (self._output if message.stream == 1 else self._errors).feed(message.data)

    async def _feed(self, stream: Stream) -> None:
        try:
            for start in range(0, len(self._command.stdin), INPUT_CHUNK_BYTES):
                await stream.write_in(self._command.stdin[start : start + INPUT_CHUNK_BYTES])
        except (OSError, RuntimeError, AssertionError):
            pass  # the program has ended or closed its stdin

    def with_output(self, ended: ExecResult, seconds: float) -> ExecResult:
        return msgspec.structs.replace(
            ended,
            stdout=self._output.content(),
            stderr=self._errors.content(),
            stdout_omitted_bytes=self._output.missing_bytes,
            stderr_omitted_bytes=self._errors.missing_bytes,
            seconds=seconds,
        )
