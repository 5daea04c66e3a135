"""Flags that are raised while a trial runs lie in the details of its score, which stays what it is."""

from __future__ import annotations

from typing import Any

import pytest

from benchwright.catalog.containers.flags import Flag, flags_of, with_flags
from benchwright.catalog.harbor import grading as terminal_bench
from benchwright.catalog.swe_bench import grading as swe_bench
from benchwright.catalog.swe_bench_pro import grading as swe_bench_pro
from benchwright.engine.protocols import Scorer
from benchwright.records import Outcome, Sample

FLAG = {"kind": "solution_in_image", "evidence": "/app/solve.sh is the solution"}

TERMINAL: dict[str, Any] = {"settings": {"parser": "reward"}}
PRO: dict[str, Any] = {"fail_to_pass": ["new"], "pass_to_pass": []}
VERIFIED: dict[str, Any] = {"repo": "pytest-dev/pytest", "FAIL_TO_PASS": [], "PASS_TO_PASS": []}

SCORERS: dict[str, tuple[Scorer, dict[str, Any], dict[str, Any]]] = {
    "terminal_bench": (
        terminal_bench.TestsScorer("reward"),
        TERMINAL,
        {"tests": {"ended": "exited", "reward_text": "1"}},
    ),
    "swe_bench_pro": (
        swe_bench_pro.ResolvedScorer("resolved"),
        PRO,
        {"patch": "diff", "problem": None, "tests": {"statuses": {"new": "PASSED"}, "applied": True}},
    ),
    "swe_bench": (swe_bench.ResolvedScorer("resolved"), VERIFIED, {"patch": "diff", "tests": {"log": ""}}),
}


@pytest.mark.parametrize("benchmark", SCORERS)
async def test_a_score_has_the_flags_of_its_trial_and_the_same_value(benchmark: str) -> None:
    scorer, content, artifacts = SCORERS[benchmark]
    sample = Sample("s", content)
    plain = await scorer.score(sample, Outcome(artifacts=artifacts), None)  # type: ignore[arg-type]
    flagged = await scorer.score(sample, Outcome(artifacts={**artifacts, "flags": [FLAG]}), None)  # type: ignore[arg-type]
    assert "flags" not in (plain.detail or {})
    assert flagged.detail == {**(plain.detail or {}), "flags": [FLAG]}
    assert flagged.value == plain.value


def test_a_flag_that_is_raised_twice_is_told_once() -> None:
    flag = Flag("forged", "twice")
    assert with_flags({"a": 1}, [flag, flag]) == {"a": 1, "flags": [{"kind": "forged", "evidence": "twice"}]}
    assert with_flags({"a": 1}, []) == {"a": 1}
    assert flags_of(Outcome(artifacts={"flags": [FLAG]})) == [Flag(**FLAG)]
