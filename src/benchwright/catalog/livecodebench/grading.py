"""How LiveCodeBench's answers are graded: their code must pass all tests of the problem."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.catalog.livecodebench.hidden import Test, read_tests
from benchwright.catalog.livecodebench.prompts import code_of
from benchwright.catalog.livecodebench.running import PASSED, run_tests
from benchwright.engine.protocols import Score, Session
from benchwright.errors import GraderError
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint
from benchwright.sandbox import LocalSandbox


class TestsScorer:
    """Runs the public tests, then the hidden ones, as many programs at a time as there are processors."""

    __test__ = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("livecodebench tests", 1)
        self._room: tuple[asyncio.AbstractEventLoop, LocalSandbox, asyncio.Semaphore] | None = None

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """1 if all tests pass; no score for an answer without two fences.

        Raises:
            GraderError: the hidden tests cannot be read.
            ExecutionError: the sandbox cannot be started.
        """
        code = code_of(outcome.answer)
        if code is None:
            return verdict_score(Verdict(None, explanation="No code stands between two fences."))
        sandbox, places = self._places()
        async with places:
            tests = await asyncio.to_thread(tests_of, sample.content)
            ended = await run_tests(sandbox, code, sample.content["function"], tests)
        details: dict[str, Any] = {"result": ended.verdict, "passed_tests": ended.passed, "tests": len(tests)}
        explanation = f"{ended.verdict}, {ended.passed} of {len(tests)} tests passed"
        if ended.said:
            explanation += f": {ended.said}"
        return verdict_score(
            Verdict(float(ended.verdict == PASSED), code, details=details, explanation=explanation)
        )

    def _places(self) -> tuple[LocalSandbox, asyncio.Semaphore]:
        """The sandbox of the running event loop, and how many programs run in it at a time."""
        loop = asyncio.get_running_loop()
        if self._room is None or self._room[0] is not loop:
            self._room = loop, LocalSandbox(), asyncio.Semaphore(os.cpu_count() or 1)
        return self._room[1:]


def tests_of(content: dict[str, Any]) -> list[Test]:
    """The tests of a problem, public ones first.

    Raises:
        GraderError: the hidden ones cannot be read, or there is no test at all.
    """
    try:
        tests = read_tests(content["public"]) + read_tests(content["private"])
    except ValueError as error:
        raise GraderError(f"a row of LiveCodeBench is damaged: {error}") from None
    if not tests:
        raise GraderError("a row of LiveCodeBench has no tests")
    return tests
