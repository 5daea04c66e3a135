"""The scorer of SWE-bench: it reads the log that the tests left, and needs no container."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from benchwright.catalog.benchmark import Figure, Graded
from benchwright.catalog.grading import verdict_score
from benchwright.catalog.swe_bench.grading import GRADED_BY, grade
from benchwright.catalog.swe_bench.solver import PATCH, TESTS
from benchwright.engine.offload import offload
from benchwright.engine.protocols import Score, Session
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint

NO_PATCH = "there is no patch"


class ResolvedScorer:
    """1 if the instance is resolved; no score where there was no patch to test."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("swe_bench resolved", name, "1")

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Grades the log."""
        tests = outcome.artifacts.get(TESTS)
        content = {name: sample.content[name] for name in GRADED_BY}
        verdict = await offload(grade, content, tests["log"] if tests else "")
        details = {**verdict.details, "model_patch": outcome.artifacts.get(PATCH, "")}
        if tests is None:
            details["error"] = outcome.artifacts.get("problem") or NO_PATCH
            verdict = msgspec.structs.replace(verdict, score=None, predicted=None)
        return verdict_score(msgspec.structs.replace(verdict, details=details))


def without_result(graded: Iterable[Graded]) -> Sequence[Figure]:
    """Of how many instances there is no patch, and of how many the tests say nothing; both count as not resolved."""
    no_patch = no_results = 0
    for one in graded:
        if "model_patch" not in one.detail:
            continue  # the trial has failed
        if not one.detail["model_patch"].strip():
            no_patch += 1
        elif "error" in one.detail:
            no_results += 1
    return [
        Figure("without_patch", float(no_patch)),
        Figure("without_test_results", float(no_results)),
    ]
