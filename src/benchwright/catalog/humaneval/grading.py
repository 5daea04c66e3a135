"""Grading of HumanEval's answers: their code must pass the problem's tests in a sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from benchwright.catalog.benchmark import Figure, GradedTrial
from benchwright.catalog.breakdowns import mean
from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.catalog.humaneval.program_builder import (
    build_program,
    lenient_completion,
    published_completion,
)
from benchwright.catalog.repeat_figures import figures_over_repeats
from benchwright.engine.protocols import Score, Session
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint
from benchwright.sandbox import LocalSandbox, PythonVerdict, run_python
from benchwright.text import last_line

TIME_LIMIT_SECONDS = 3.0
"""Time limit of the official harness for one program, in seconds."""

DOCUMENTED_SECONDS = 10.0

PASS_AT_KS = (1, 5, 10)

LENIENT_PASS_KEY = "passes_leniently"
"""Key of a score's details: True if an answer that failed passes after lenient extraction of its code."""


class ProgramScorer:
    """Scorer that runs the official test program in the local sandbox.

    A program passes only if it reaches its end within the time limit.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("humaneval program", 2, TIME_LIMIT_SECONDS)
        self._sandbox: tuple[asyncio.AbstractEventLoop, LocalSandbox] | None = None

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return 1 if the program built from the answer passes, else 0. A blank answer has no score."""
        content, answer = sample.content, outcome.answer
        if not answer.strip():
            return verdict_score(Verdict(None, expected=content["canonical_solution"]))
        code = published_completion(answer)
        ran = await self._run(build_program(content, code))
        details: dict[str, Any] = {"result": ran.reason}
        if not ran.passed:
            lenient = await self._run(build_program(content, "\n" + lenient_completion(content, answer)))
            details[LENIENT_PASS_KEY] = lenient.passed
        return verdict_score(
            Verdict(
                float(ran.passed),
                code,
                content["canonical_solution"],
                details=details,
                explanation=f"The program {ran.reason}",
            )
        )

    async def _run(self, source: str) -> PythonVerdict:
        return await run_python(self._room(), source, seconds=TIME_LIMIT_SECONDS)

    def _room(self) -> LocalSandbox:
        """Return the sandbox in which programs run. Each event loop has a sandbox of its own."""
        loop = asyncio.get_running_loop()
        if self._sandbox is None or self._sandbox[0] is not loop:
            self._sandbox = loop, LocalSandbox()
        return self._sandbox[1]


class DocumentedScorer:
    """Scorer as llm-benchmarker documents it: the program must exit with code 0 within 10 seconds."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("humaneval documented", 1, DOCUMENTED_SECONDS)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return 1 if the program built from the answer passes, else 0. A blank answer has no score."""
        from benchwright.catalog.llm_benchmarker_api.evaluators.code_execution import run_humaneval_test

        content, answer = sample.content, outcome.answer
        if not answer.strip():
            return verdict_score(Verdict(None, expected=content["canonical_solution"]))
        passed, said = await run_humaneval_test(
            content["prompt"], answer, content["test"], content["entry_point"], timeout=DOCUMENTED_SECONDS
        )
        details = {"result": "passed" if passed else f"failed: {last_line(said, 200)}"}
        return verdict_score(
            Verdict(
                float(passed),
                answer,
                content["canonical_solution"],
                details=details,
                explanation=f"The program {details['result']}",
            )
        )


def figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return pass@k, and the share of answers whose code passes when it is extracted leniently."""
    kept = list(graded)
    lenient = mean([float(one.value == 1.0 or bool(one.detail.get(LENIENT_PASS_KEY))) for one in kept])
    note = "code in any form, not only as simple-evals finds it; not comparable"
    return [*compute_pass_at_ks(kept), Figure("lenient_pass@1", lenient, note)]


def compute_pass_at_ks(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return the unbiased pass@k (Chen et al. 2021, equation 1).

    There is one figure for each k in `PASS_AT_KS` for which at least one problem was tried k times or more.
    """
    from benchwright.stats.passk import pass_at_k

    counts: dict[str, list[int]] = {}
    for one in graded:
        count = counts.setdefault(one.sample, [0, 0])
        count[0] += 1
        count[1] += one.value == 1.0
    return figures_over_repeats([(n, c) for n, c in counts.values()], PASS_AT_KS, pass_at_k, "pass@{}")
