"""Quality plotted against time or cost: finds the models that no other model beats in both respects (the
Pareto front).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from benchwright.analysis.comparison.sides import Side
from benchwright.records import Record
from benchwright.statistic import Statistic, is_number

Resource = Literal["seconds", "tokens", "cost"]
"""What a trial uses up: `seconds` (median model time), `tokens` (mean number), or `cost` (mean)."""


class ResourcesPerTrial(Record, frozen=True):
    """Time, tokens and cost per trial. Each is None if unknown."""

    seconds: float | None = None
    tokens: float | None = None
    cost: float | None = None


class FrontPoint(Record, frozen=True):
    """One model on the plot: what it used per trial (`spent`), and the mean of its score with its interval.

    `on_front` is True if no other model is both cheaper and better.
    """

    letter: str
    spent: float
    mean: float
    low: float | None = None
    high: float | None = None
    on_front: bool = False


class ParetoFront(Record, frozen=True):
    """The models of one task, by one score and one `Resource`. The cheapest model comes first."""

    task: str
    score: str
    spent: Resource
    points: list[FrontPoint]


class FrontCandidate(Record, frozen=True):
    """A model that may be on a front, with its score and its resources per trial."""

    letter: str
    mean: Statistic
    low: Statistic
    high: Statistic
    resources_per_trial: ResourcesPerTrial


def resources_per_trial(side: Side) -> ResourcesPerTrial:
    """Return time and tokens per trial of one run. Reused trials are left out.

    Trials made before the automatic concurrency had settled do not count for the time.
    """
    effort = side.usage
    if effort is None:
        return ResourcesPerTrial()
    timed = np.isfinite(effort.latency) & ~effort.reused_mask & ~effort.unsettled_mask
    own = ~effort.reused_mask
    tokens = (effort.prompt_tokens + effort.completion_tokens)[own]
    known = bool(own.any()) and effort.requests > 0 and not effort.uncounted_requests
    return ResourcesPerTrial(
        seconds=float(np.median(effort.latency[timed])) if timed.any() else None,
        tokens=float(tokens.mean()) if known else None,
    )


def fronts(task: str, score: str, candidates: Sequence[FrontCandidate]) -> list[ParetoFront]:
    """Return two fronts of a task's models: one by time, and one by cost.

    If costs are not known, the second front is by tokens. A front needs at least two models with known
    values; otherwise it is left out.
    """
    priced = any(one.resources_per_trial.cost is not None for one in candidates)
    kinds: list[Resource] = ["seconds", "cost" if priced else "tokens"]
    found = []
    for spent in kinds:
        points = list(_points(candidates, spent))
        if len(points) > 1:
            found.append(ParetoFront(task, score, spent, _marked(points)))
    return found


def _points(candidates: Sequence[FrontCandidate], spent: Resource) -> Iterable[FrontPoint]:
    for one in candidates:
        amount: float | None = getattr(one.resources_per_trial, spent)
        if amount is not None and is_number(one.mean):
            low, high = (end if is_number(end) else None for end in (one.low, one.high))
            yield FrontPoint(one.letter, amount, one.mean, low, high)


def _marked(points: Sequence[FrontPoint]) -> list[FrontPoint]:
    """Return the points, the cheapest first. Those on the front have `on_front` set.

    A point is on the front if its mean exceeds the means of all cheaper points.
    """
    from msgspec.structs import replace

    found, best = [], -np.inf
    for point in sorted(points, key=lambda one: (one.spent, -one.mean)):
        found.append(replace(point, on_front=point.mean > best))
        best = max(best, point.mean)
    return found
