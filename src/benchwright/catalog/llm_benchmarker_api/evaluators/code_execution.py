"""Runs Python code that a model wrote, in the local sandbox."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from benchwright.sandbox import LocalSandbox

_SANDBOXES: WeakKeyDictionary[asyncio.AbstractEventLoop, LocalSandbox] = WeakKeyDictionary()


async def execute_python(code: str, timeout: float = 10.0) -> tuple[bool, str]:
    """Run a program. Return (True, its stdout) if the program ends with exit code 0, else (False, its stderr).

    As documented, only the exit code counts, so that `sys.exit(0)` passes. `timeout` is in seconds. If a
    limit ended the program, the returned text begins with the name of that limit. At most as many programs
    run at the same time as there are processors.

    Raises:
        ExecutionError: If the sandbox cannot be started.
    """
    from math import ceil

    from benchwright.sandbox import Limits

    limits = Limits(wall_seconds=timeout, cpu_seconds=max(1, ceil(timeout)))
    source = code.encode("utf-8", "replace")
    ended = await _sandbox().run(["python3", "program.py"], files={"program.py": source}, limits=limits)
    if ended.succeeded:
        return True, _text(ended.stdout)
    stderr = _text(ended.stderr)
    if ended.reason == "exited":
        return False, stderr
    told = f"timed out after {timeout:g} s" if ended.reason == "timeout" else f"ended: {ended.reason}"
    return False, f"{told}\n{stderr}".rstrip()


async def run_humaneval_test(
    prompt: str, completion: str, test_code: str, entry_point: str, timeout: float = 10.0
) -> tuple[bool, str]:
    """Run prompt and completion, then the test code's `check(entry_point)`. Return what `execute_python` returns.

    The completion may be the function's body or the whole function, with or without a Markdown fence.
    """
    from benchwright.catalog.humaneval.program_builder import lenient_completion

    body = lenient_completion({"entry_point": entry_point}, completion)
    return await execute_python(f"{prompt}\n{body}\n\n{test_code}\n\ncheck({entry_point})\n", timeout)


def _sandbox() -> LocalSandbox:
    """Return the sandbox of the current event loop, which all programs share."""
    from benchwright.sandbox import LocalSandbox

    loop = asyncio.get_running_loop()
    if loop not in _SANDBOXES:
        _SANDBOXES[loop] = LocalSandbox()
    return _SANDBOXES[loop]


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace")
