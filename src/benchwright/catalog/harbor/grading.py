"""Grades a task by its test results: the rewards that tests wrote, in one step or several steps.

A reward is a number with a name, from a file that the tests write.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from benchwright.catalog.benchmark import Figure, GradedTrial
from benchwright.catalog.containers.flags import flags_of, with_flags
from benchwright.catalog.containers.test_summaries import summarize_tests
from benchwright.catalog.containers.traffic import connection_figures, with_connections
from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.engine.protocols import Score, Session
from benchwright.records import FAILED_STATUSES, Outcome, Sample, Status
from benchwright.runs.keys import fingerprint

TESTS, STEPS = "tests", "steps"
"""`TESTS`: key of the outcome's artifact with the last test run (`testing.SuiteResult`).

`STEPS`: key of the outcome's artifact with the test runs of all steps.
"""

LogParser = Callable[[str], dict[str, bool] | None]
"""A function that reads a test log and returns for each test whether it passed.

It returns None if the log reports no test.
"""


class TestsScorer:
    """A scorer that uses the log and the rewards of the task's tests. It needs no container.

    `parsers`: functions that read the logs of tests that write no reward, keyed by the name in a task's
    settings.
    """

    def __init__(self, name: str, parsers: Mapping[str, LogParser] | None = None) -> None:
        self.name = name
        self.fingerprint = fingerprint("terminal_bench", name, "2")
        self._parsers = parsers or {}

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return the reward as the score. Without rewards, return 1 if all tests passed, else 0."""
        verdict = build_verdict(sample.content["settings"], outcome.artifacts, self._parsers)
        details = {**verdict.details, "failure_mode": _failure_mode(outcome, verdict)}
        details = with_connections(with_flags(details, flags_of(outcome)), outcome.artifacts)
        return verdict_score(msgspec.structs.replace(verdict, details=details))


def build_verdict(
    settings: Mapping[str, Any], artifacts: Mapping[str, Any], parsers: Mapping[str, LogParser]
) -> Verdict:
    """Grade all test runs of a trial by its task's settings."""
    if STEPS in artifacts:
        return grade_steps(settings.get("rewards", "mean"), artifacts[STEPS])
    return grade(artifacts.get(TESTS) or {}, parsers.get(settings.get("parser", "reward")))


def grade(tests: Mapping[str, Any], parser: LogParser | None = None) -> Verdict:
    """Grade one test run. If the run has no result, the detail `error` states why.

    A run that was ended by a limit scores 0, whatever rewards it had written.
    """
    ended = tests.get("ended", "not_run")
    if ended != "exited":
        return _nothing(str(tests.get("reason") or _why(ended, tests)), str(ended))
    if parser is None:
        return grade_rewards(read_rewards(tests))
    results = parser(str(tests.get("summary") or tests.get("log") or ""))
    if results is None or tests.get("summary_cut"):
        return _nothing("the tests reported no results", "parse_error")
    score = float(all(results.values()))
    named = {name: "passed" if passed else "failed" for name, passed in results.items()}
    passed = f"{sum(results.values())} of {len(results)} passed"
    return Verdict(score, passed, details={"tests": named}, explanation=summarize_tests(results))


def grade_steps(together: str, steps: Sequence[Mapping[str, Any]]) -> Verdict:
    """Grade the test runs of several steps. `steps`: for each step its `name` and its `tests`, which is the test run.

    `together`: how steps are combined (harbor 0.25.0). `mean` averages each reward over the steps that have
    any rewards, where a missing reward counts as 0. `final` takes the rewards of the last step.
    """
    by_step = [(str(step["name"]), grade(step["tests"]), read_rewards(step["tests"])) for step in steps]
    given = [rewards for _, _, rewards in by_step if rewards]
    counted = given if together == "mean" else [by_step[-1][2]] if by_step else []
    names = dict.fromkeys(name for rewards in counted for name in rewards)
    means = {name: sum(one.get(name, 0.0) for one in counted) / len(counted) for name in names}
    verdict = grade_rewards(means)
    told = [
        {"name": name, **({"rewards": rewards} if rewards else {"error": each.details.get("error")})}
        for name, each, rewards in by_step
    ]
    why = "; ".join(f"{name}: {each.predicted or each.explanation}" for name, each, _ in by_step)
    return msgspec.structs.replace(
        verdict, details={**verdict.details, STEPS: told}, explanation=f"{verdict.explanation} ({why})"
    )


def read_rewards(tests: Mapping[str, Any]) -> dict[str, float]:
    """Return the rewards by name: the numbers in reward.json, or without that file the number in reward.txt.

    Return {} if any value in reward.json is not a finite number (harbor 0.25.0, harbor/verifier/verifier.py).
    """
    if tests.get("ended") != "exited":
        return {}
    json, text = tests.get("reward_json"), _finite(tests.get("reward_text"))
    if json is not None:
        return _numbers(json)
    return {} if text is None else {"reward": text}


def grade_rewards(rewards: Mapping[str, float]) -> Verdict:
    """Grade a trial by its rewards. The score is the reward named `reward`. Without it, the score is the mean.

    A score below 0 counts as 0, and a score above 1 as 1. The details contain the original values.
    """
    if not rewards:
        return _nothing("the tests wrote no reward", "no_reward")
    reward = rewards.get("reward")
    value = sum(rewards.values()) / len(rewards) if reward is None else reward
    why = f"The tests gave the reward {value:g}"
    several = {}
    if len(rewards) > 1:
        several = {"rewards": dict(rewards)}
        how = "the mean of " if reward is None else ""
        why += f" ({how}{', '.join(f'{name} {one:g}' for name, one in rewards.items())})"
    details = {"reward": value, **several}
    return Verdict(min(max(value, 0.0), 1.0), f"{value:g}", details=details, explanation=f"{why}.")


def reward_figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return the number of refused connections and, if tests write several rewards, the mean of each reward.

    In the means, a trial without a reward counts as 0. Failed trials are left out.
    """
    sums: dict[str, float] = {}
    trials, graded = 0, list(graded)
    for one in graded:
        trials += one.status not in FAILED_STATUSES
        for name, reward in (one.detail.get("rewards") or {}).items():
            sums[name] = sums.get(name, 0.0) + reward
    rewards = [Figure(f"reward {name}", total / trials) for name, total in sums.items()]
    return [*rewards, *connection_figures(graded)]


def is_below_minimum(rewards: Mapping[str, float], least: Mapping[str, float]) -> bool:
    """Return True if a reward is missing or below its minimum, so that the next step may not begin.

    `least`: the minimum of each reward.
    """
    return any(rewards.get(name, -math.inf) < bound for name, bound in least.items())


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


def _numbers(json: str) -> dict[str, float]:
    try:
        decoded = msgspec.json.decode(json)
    except (msgspec.DecodeError, ValueError):
        return {}
    values = decoded.values() if isinstance(decoded, dict) else [None]
    if not all(isinstance(value, (int, float)) and _finite(value) is not None for value in values):
        return {}
    return {str(name): float(value) for name, value in decoded.items()}


def _finite(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _failure_mode(outcome: Outcome, verdict: Verdict) -> str:
    """Return the failure mode in the terms of Terminal-Bench's own results. Return "none" if nothing failed."""
    mode = verdict.details.get("mode")
    if mode is not None:
        return {"timeout": "test_timeout"}.get(str(mode), str(mode))
    return "agent_limit" if outcome.status == Status.LIMIT else "none"
