"""Grades an instance: it is resolved if every test of both lists has passed (swe_bench_pro_eval.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from benchwright.catalog.containers.flags import Flag, flags_of, with_flags
from benchwright.catalog.containers.patch_sources import NO_PATCH_REASON
from benchwright.catalog.containers.sealing.runner_report import printed_elsewhere_flag
from benchwright.catalog.containers.test_summaries import summarize_test_lists
from benchwright.catalog.containers.traffic import with_connections
from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.catalog.swe_bench_pro.result_parsing import PASSED_STATUS
from benchwright.engine.protocols import Score, Session
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint

RESOLVED_LABEL = "resolved"


class ResolvedScorer:
    """A scorer that grades by test statuses from the instance's parser, without a container."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("swe_bench_pro resolved", name, "1")

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return the score 1 or 0. There is no score if the answer has no patch."""
        verdict = grade(sample.content, outcome.artifacts)
        details = with_connections(with_flags(dict(verdict.details), flags_of(outcome)), outcome.artifacts)
        return verdict_score(msgspec.structs.replace(verdict, details=details))


def grade(content: Mapping[str, Any], artifacts: Mapping[str, Any]) -> Verdict:
    """Grade an instance: 1 if all tests in `fail_to_pass` and `pass_to_pass` passed, else 0.

    The score is None if there was no patch. The details contain the result of each test by name, and the
    patch. If there was a problem, the details state the problem.
    """
    tests = artifacts.get("tests") or {}
    problem = artifacts.get("problem") or tests.get("problem")
    statuses = tests.get("statuses") or {}
    now, still = (
        {name: statuses.get(name) == PASSED_STATUS for name in content[names]}
        for names in ("fail_to_pass", "pass_to_pass")
    )
    resolved = not problem and all(now.values()) and all(still.values())
    details = {
        "fail_to_pass_results": now,
        "pass_to_pass_results": still,
        "model_patch": artifacts.get("patch", ""),
        "patch_applied": bool(tests.get("applied")),
    }
    return Verdict(
        None if problem == NO_PATCH_REASON else float(resolved),
        RESOLVED_LABEL if resolved else f"not {RESOLVED_LABEL}",
        RESOLVED_LABEL,
        details=details | ({"error": problem} if problem else {}),
        explanation=problem or summarize_test_lists(now, still),
    )


def flag_printed_elsewhere(content: Mapping[str, Any], artifacts: Mapping[str, Any]) -> list[Flag]:
    """Return a flag if a pass depends on output after the test runner's closing line. Return no flag otherwise."""
    closed = artifacts["tests"].get("closed_statuses")
    if closed is None:
        return []
    names = [*content["fail_to_pass"], *content["pass_to_pass"]]
    missing = [name for name in names if closed.get(name) != PASSED_STATUS]
    return [printed_elsewhere_flag(missing)] if missing else []
