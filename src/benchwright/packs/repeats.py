"""Combines several attempts at one cell (a scenario with a model): majority status and representative result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

RESULT_STATUSES = ("pass", "fail", "partial")
"""The possible statuses of an attempt, in the order in which `majority_status` looks for a majority."""

RawResult = dict[str, Any]
"""A ScenarioResult, as the pack returned it."""


def majority_status(statuses: Sequence[str]) -> str:
    """Return the status that a majority of the n attempts have: at least floor(n / 2) + 1 attempts.

    Return "partial" if no status has a majority.
    """
    votes = Counter(statuses)
    needed = len(statuses) // 2 + 1
    return next((status for status in RESULT_STATUSES if votes[status] >= needed), "partial")


def representative_result(results: Sequence[RawResult]) -> RawResult:
    """Return one result for all attempts at a cell, computed as the desktop host (BenchLocal) does.

    The result is that of the best attempt with the majority status. An attempt is better if it is not a
    provider error, then if its score is higher, then if its points are higher. The counts per status are put
    before the summary, all logs are concatenated, and durations are added up. The result of a single attempt
    is returned unchanged.
    """
    if len(results) == 1:
        return results[0]
    status = majority_status([str(result.get("status")) for result in results])
    fitting = [result for result in results if result.get("status") == status] or list(results)
    best = max(fitting, key=_merit)
    counts = Counter(str(result.get("status")) for result in results)
    told = ", ".join(f"{counts[name]} {name}" for name in RESULT_STATUSES if counts[name])
    logs = [
        f"--- run {number}/{len(results)} ---\n{result.get('rawLog', '')}"
        for number, result in enumerate(results, 1)
    ]
    return {
        **best,
        "status": status,
        "summary": f"{told} of {len(results)} runs. {best.get('summary', '')}".rstrip(),
        "rawLog": "\n".join(logs),
        "timings": _summed(results),
    }


def _merit(result: RawResult) -> tuple[bool, float, float]:
    return (
        result.get("errorType") != "provider_error",
        _number(result.get("score")),
        _number(result.get("points")),
    )


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _summed(results: Sequence[RawResult]) -> dict[str, Any]:
    timings = [result.get("timings") or {} for result in results]
    summed: dict[str, Any] = {"durationMs": sum(_number(one.get("durationMs")) for one in timings)}
    for name, place in (("startedAt", 0), ("completedAt", -1)):
        if timings[place].get(name) is not None:
            summed[name] = timings[place][name]
    return summed
