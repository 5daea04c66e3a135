"""What the result of a task's tests is worth, and what the tests of Terminal-Bench 1.0 report."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from benchwright.catalog.containers.flags import flags_of, with_flags
from benchwright.catalog.containers.tests_in_words import tests_in_words
from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.engine.protocols import Score, Session
from benchwright.records import Outcome, Sample, Status
from benchwright.runs.keys import fingerprint

TESTS = "tests"
"""The artifact of an outcome in which the run of the tests lies; see `testing.Tested`."""


class TestsScorer:
    """Grades by the log and the reward that the task's tests left, so that no container is needed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("terminal_bench", name, "1")

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """The reward, or whether all tests passed."""
        parser = sample.content["settings"].get("parser", "reward")
        verdict = grade(parser, outcome.artifacts.get(TESTS) or {})
        details = {**verdict.details, "failure_mode": _failure_mode(outcome, verdict)}
        details = with_flags(details, flags_of(outcome))
        return verdict_score(msgspec.structs.replace(verdict, details=details))


def grade(parser: str, tests: Mapping[str, Any]) -> Verdict:
    """The verdict on one run of the tests; `error` in its details says why there is no result, where there is none.

    A run that a limit ended is worth nothing, whatever it had written.
    """
    ended = tests.get("ended", "not_run")
    if ended != "exited":
        return _nothing(str(tests.get("reason") or _why(ended, tests)), str(ended))
    if parser == "reward":
        return grade_reward(tests.get("reward_text"), tests.get("reward_json"))
    results = PARSERS[parser](str(tests.get("summary") or tests.get("log") or ""))
    if results is None or tests.get("summary_cut"):
        return _nothing("the tests reported no results", "parse_error")
    score = float(all(results.values()))
    named = {name: "passed" if passed else "failed" for name, passed in results.items()}
    passed = f"{sum(results.values())} of {len(results)} passed"
    return Verdict(score, passed, details={"tests": named}, explanation=tests_in_words(results))


def grade_reward(text: str | None, json: str | None) -> Verdict:
    """The reward that Harbor reads: `reward` of reward.json, else reward.txt, else the only number of reward.json.

    It is a number; what lies outside of 0 to 1 counts as the nearer end, and stands in the details as it was.
    """
    numbers = _numbers(json)
    reward = numbers.get("reward", _number(text))
    if reward is None and len(numbers) == 1:
        reward = next(iter(numbers.values()))
    if reward is None:
        return _nothing("the tests wrote no reward", "no_reward")
    details = {"reward": reward, **({"rewards": numbers} if len(numbers) > 1 else {})}
    why = f"The tests gave the reward {reward:g}."
    return Verdict(min(max(reward, 0.0), 1.0), f"{reward:g}", details=details, explanation=why)


_WHY_ENDED = {
    "timeout": "the tests were ended at their time limit, after {seconds:.0f} s",
    "output": "the tests printed too much",
    "memory": "memory ran out while the tests ran",
    "disk": "the tests wrote more to the disk than the task allows",
    "not_run": "the tests were not run",
}


def _why(ended: str, tests: Mapping[str, Any]) -> str:
    why = _WHY_ENDED.get(ended, f"the tests were ended: {ended}")
    return why.format(seconds=tests.get("seconds") or 0.0)


def _nothing(why: str, mode: str) -> Verdict:
    return Verdict(0.0, details={"error": why, "mode": mode}, explanation=why)


def _numbers(json: str | None) -> dict[str, float]:
    try:
        decoded = msgspec.json.decode(json or "{}")
    except (msgspec.DecodeError, ValueError):
        return {}
    if not isinstance(decoded, dict):
        return {}
    numbers = {name: _number(value) for name, value in decoded.items() if not isinstance(value, (bool, str))}
    return {name: number for name, number in numbers.items() if number is not None}


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _failure_mode(outcome: Outcome, verdict: Verdict) -> str:
    """In the words of Terminal-Bench's own results, where it has one."""
    mode = verdict.details.get("mode")
    if mode is not None:
        return {"timeout": "test_timeout"}.get(str(mode), str(mode))
    return "agent_limit" if outcome.status == Status.LIMIT else "none"


SUMMARY = re.compile(r"(?<!=)=+\s*short test summary info\s*=+", re.IGNORECASE)

_COUNTS_AS_PASSED = {
    "PASSED": True,
    "SKIPPED": True,
    "XFAIL": True,
    "FAILED": False,
    "ERROR": False,
    "XPASS": False,
}

_SWE_BENCH = ("SWEBench results starts here", "SWEBench results ends here")

Parser = Callable[[str], dict[str, bool] | None]
"""The log of the tests -> whether each one passed; None where nothing was reported."""


def pytest_results(log: str) -> dict[str, bool] | None:
    """What follows pytest's `short test summary info`: a word and a test in each line.

    As in the harness, skipped tests and expected failures count as passed, unexpected passes do not, a test is known
    by what follows its first `::`, and the last line about it counts.
    """
    parts = SUMMARY.split(log, maxsplit=1)
    if len(parts) < 2:
        return None
    results = {}
    for line in parts[1].splitlines():
        message = line.rfind(" - ") if line.startswith("FAILED") else -1
        words = (line if message < 0 else line[:message]).split(maxsplit=1)
        if len(words) == 2 and (word := words[0].strip(":")) in _COUNTS_AS_PASSED:
            name = words[1].strip().split("::", 1)[-1]
            if name:
                results[name] = _COUNTS_AS_PASSED[word]
    return results or None


def swe_bench_result(log: str) -> dict[str, bool] | None:
    """The one word between two marks that SWE-bench's tasks print."""
    said, end, _ = log.partition(_SWE_BENCH[0])[2].partition(_SWE_BENCH[1])
    return {"tests": said.strip() == "PASSED"} if end else None


PARSERS: dict[str, Parser] = {"pytest": pytest_results, "swebench": swe_bench_result}
