"""Runner of a program against the tests of a problem in the local sandbox, until one test fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from benchwright.catalog.livecodebench import inside
from benchwright.catalog.livecodebench.output_comparison import same_output, same_value
from benchwright.catalog.livecodebench.problem_tests import Test
from benchwright.engine.offload import offload
from benchwright.errors import ExecutionError
from benchwright.records import Record
from benchwright.sandbox import Limits, LocalSandbox, SandboxProcess
from benchwright.sandbox.limits import MiB

ResultT = TypeVar("ResultT")

MEMORY_BYTES = 4096 * MiB
MAX_ANSWER_LENGTH = 64 * MiB
START_SECONDS = 60.0
MAX_INLINE_CHARACTERS = 100_000
"""Maximum number of characters that are parsed or compared on the event loop. This takes about a millisecond."""

PASSED_VERDICT = "passed"
WRONG_ANSWER_VERDICT = "wrong answer"
TIME_LIMIT_VERDICT = "time limit exceeded"
RUN_TIME_ERROR_VERDICT = "run-time error"
"""Verdicts on a program.

`PASSED_VERDICT`: it passed all tests. `WRONG_ANSWER_VERDICT`: one of its outputs is wrong.
`TIME_LIMIT_VERDICT`: it exceeded a time limit.
`RUN_TIME_ERROR_VERDICT`: it raised an error, its code could not be loaded, or its process exited.
"""


class ProgramResult(Record, frozen=True):
    """The verdict on a program, and the number of tests that it passed before a test failed.

    `message`: the error message; None if there is none.
    """

    verdict: str
    passed_tests: int
    message: str | None = None


async def run_tests(
    sandbox: LocalSandbox, code: str, function: str | None, tests: Sequence[Test]
) -> ProgramResult:
    """Run the tests in order until one fails, and return the verdict.

    As in the official checker, the time limit for all tests together is 7 s per test, plus 5 s.

    Raises:
        ExecutionError: If the sandbox cannot be started.
    """
    seconds = (inside.SECONDS + 1) * len(tests) + 5.0
    limits = Limits(
        wall_seconds=seconds + START_SECONDS,
        cpu_seconds=int(seconds),
        memory_bytes=MEMORY_BYTES,
        line_bytes=MAX_ANSWER_LENGTH,
    )
    argv = ["python3", "inside.py"]
    async with sandbox.start_process(argv, files=_files(), limits=limits, busy=True) as process:
        await process.receive(START_SECONDS)
        return await _Conversation(process, time.monotonic() + seconds).run(code, function, tests)


async def call_or_offload(length: int, function: Callable[..., ResultT], *args: Any) -> ResultT:
    """Call a function that reads texts, and return its result. If the texts are long, run it in another process.

    `length`: number of characters of the texts. Texts of more than `MAX_INLINE_CHARACTERS` are long.
    """
    return function(*args) if length < MAX_INLINE_CHARACTERS else await offload(function, *args)


@cache
def _files() -> dict[str, bytes]:
    return {"inside.py": Path(inside.__file__).read_bytes()}


class _Conversation:
    """The exchange of lines with the process in the sandbox, with a deadline."""

    def __init__(self, process: SandboxProcess, deadline: float) -> None:
        self._process = process
        self._deadline = deadline

    async def run(self, code: str, function: str | None, tests: Sequence[Test]) -> ProgramResult:
        same = same_output if function is None else same_value
        passed = 0
        try:
            answer = await self._ask({"code": code, "function": function})
            for test in tests:
                if "error" in answer:
                    break
                answer = await self._ask(test.input)
                if "error" not in answer:
                    said = answer["said"]
                    if not await call_or_offload(len(said or "") + len(test.output), same, said, test.output):
                        return ProgramResult(WRONG_ANSWER_VERDICT, passed)
                    passed += 1
        except (
            ExecutionError,
            KeyError,
            TypeError,
            ValueError,
        ) as error:  # the program may write anything in place of its answers
            late = time.monotonic() >= self._deadline
            return ProgramResult(TIME_LIMIT_VERDICT if late else RUN_TIME_ERROR_VERDICT, passed, str(error))
        if "error" in answer:
            return ProgramResult(
                TIME_LIMIT_VERDICT if answer.get("late") else RUN_TIME_ERROR_VERDICT,
                passed,
                str(answer["error"]),
            )
        return ProgramResult(PASSED_VERDICT, passed)

    async def _ask(self, question: Any) -> dict[str, Any]:
        await self._process.send(msgspec.json.encode(question))
        line = await self._process.receive(max(self._deadline - time.monotonic(), 0.0))
        answer: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
        return answer
