"""Runs a Python program, and finds out whether control reaches the program's end."""

from __future__ import annotations

import msgspec

from benchwright.records import Record
from benchwright.sandbox.limits import MiB
from benchwright.sandbox.local_sandbox import LocalSandbox, PythonAttempt

PASSED_REASON = "passed"
TIMED_OUT_REASON = "timed out"


class PythonVerdict(Record, frozen=True):
    """The verdict on a program.

    `passed`: True if control reached the program's end. `reason`: "passed", "timed out" or "failed: ...".
    """

    passed: bool
    reason: str
    stdout: bytes = b""
    stderr: bytes = b""
    seconds: float = 0.0


async def run_python(
    sandbox: LocalSandbox, program: str, *, seconds: float = 3.0, memory: int = 512 * MiB
) -> PythonVerdict:
    """Return a verdict on a Python program, run as the official HumanEval harness does, but in a sandbox.

    The program is executed in fresh globals, without `__name__ == "__main__"`. Reading stdin raises an error.
    The output is kept instead of printed. The program passes only if control reaches its end within
    `seconds`: SystemExit, any other exception, and any end of the process are failures. Unlike in the
    official harness, no function of the standard library is disabled. `memory`: the limit in bytes.

    Raises:
        ExecutionError: If the sandbox cannot be started.
    """
    limits = msgspec.structs.replace(sandbox.limits, wall_seconds=seconds, memory_bytes=memory)
    attempt = await sandbox.attempt_python(program, limits=limits)
    ended = attempt.result
    return PythonVerdict(attempt.passed, _reason(attempt), ended.stdout, ended.stderr, ended.seconds)


def _reason(attempt: PythonAttempt) -> str:
    ended = attempt.result
    if attempt.passed:
        return PASSED_REASON
    if ended.reason in ("timeout", "cpu"):
        return TIMED_OUT_REASON
    if attempt.error_text:
        return f"failed: {attempt.error_text}"
    if ended.reason == "exited":
        return f"failed: the process ended (exit code {ended.exit_code}) before the program finished"
    if ended.reason == "killed":
        return f"failed: the process was killed (signal {ended.signal})"
    return f"failed: {_LIMITS[ended.reason]}"


_LIMITS = {
    "memory": "too much memory",
    "output": "too much output",
    "lost": "the sandbox was ended from outside",
}
