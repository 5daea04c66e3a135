"""Grading of LiveCodeBench: the code in the answer must pass all tests of the problem."""

from __future__ import annotations

import asyncio
from typing import Any

from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.catalog.livecodebench.problem_tests import Test, read_tests
from benchwright.catalog.livecodebench.program_runner import PASSED_VERDICT, call_or_offload, run_tests
from benchwright.catalog.livecodebench.prompts import extract_code
from benchwright.engine.protocols import Score, Session
from benchwright.errors import GraderError
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint
from benchwright.sandbox import LocalSandbox


class TestsScorer:
    """Scorer that runs the answer's code on the problem's public tests first, then on its hidden tests."""

    __test__ = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("livecodebench tests", 1)
        self._sandbox: tuple[asyncio.AbstractEventLoop, LocalSandbox] | None = None

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return 1 if all tests pass, else 0. An answer without two code fences has no score.

        Raises:
            GraderError: If the hidden tests cannot be read.
            ExecutionError: If the sandbox cannot be started.
        """
        code = extract_code(outcome.answer)
        if code is None:
            return verdict_score(Verdict(None, explanation="No code stands between two fences."))
        content = sample.content
        texts = {name: content[name] for name in ("public", "private")}
        tests = await call_or_offload(sum(map(len, texts.values())), tests_of, texts)
        ended = await run_tests(self._room(), code, content["function"], tests)
        details: dict[str, Any] = {
            "result": ended.verdict,
            "passed_tests": ended.passed_tests,
            "tests": len(tests),
        }
        explanation = f"{ended.verdict}, {ended.passed_tests} of {len(tests)} tests passed"
        if ended.message:
            explanation += f": {ended.message}"
        return verdict_score(
            Verdict(float(ended.verdict == PASSED_VERDICT), code, details=details, explanation=explanation)
        )

    def _room(self) -> LocalSandbox:
        """Return the sandbox in which programs run. Each event loop has a sandbox of its own."""
        loop = asyncio.get_running_loop()
        if self._sandbox is None or self._sandbox[0] is not loop:
            self._sandbox = loop, LocalSandbox()
        return self._sandbox[1]


def tests_of(content: dict[str, Any]) -> list[Test]:
    """Return the tests of a problem. The public tests come first.

    Raises:
        GraderError: If the hidden tests cannot be read, or there is no test at all.
    """
    try:
        tests = read_tests(content["public"]) + read_tests(content["private"])
    except ValueError as error:
        raise GraderError(f"a row of LiveCodeBench is damaged: {error}") from None
    if not tests:
        raise GraderError("a row of LiveCodeBench has no tests")
    return tests
