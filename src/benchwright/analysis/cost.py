"""Estimated cost of a run: the record, sums of costs, and the cost of a trial in earlier runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchwright.analysis.run_figures import read_run_figures
from benchwright.errors import BenchwrightError
from benchwright.records import Record
from benchwright.runs.run_selection import runs_newest_first
from benchwright.runs.tags_and_notes import models_of
from benchwright.text import make_safe


class Cost(Record, frozen=True):
    """Estimated cost of the requests to models. Requests to judges and simulated users are not included.

    A field is None if it is unknown. `money`: the cost in the currency of the prices. `basis`: the source of
    the estimate. `most`: True if each answer is counted at its maximum length, because no earlier run shows
    the real lengths.
    """

    requests: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    most: bool = False
    minutes: float | None = None
    money: float | None = None
    basis: str = ""


class CostPerTrial(Record, frozen=True):
    """Mean cost of one trial. The fields are those of `Cost`."""

    requests: float | None = None
    prompt_tokens: float | None = None
    completion_tokens: float | None = None
    most: bool = False
    basis: str = "nothing is known before it was run once: try it with --limit 3"


def total_cost(costs: Sequence[Cost]) -> Cost:
    """Sum costs. A field of the total is None if it is unknown for any of the costs."""
    return Cost(
        requests=_sum([one.requests for one in costs]),
        prompt_tokens=_sum([one.prompt_tokens for one in costs]),
        completion_tokens=_sum([one.completion_tokens for one in costs]),
        most=any(one.most for one in costs),
        minutes=_sum([one.minutes for one in costs]),
        money=_sum([one.money for one in costs]),
        basis="; ".join(dict.fromkeys(one.basis for one in costs)),
    )


def _sum(values: Sequence[Any]) -> Any:
    return None if not values or any(value is None for value in values) else sum(values)


def earlier_cost_per_trial(kind: str, task: str, model: str) -> CostPerTrial | None:
    """Return the mean cost of a trial of a task, from the newest run of `model` on this task.

    If there is no such run, the cost is from the newest run of any model on this task. Return None if there
    is no usable run. Simulated runs and runs without token counts are not usable.
    """
    of_others = None
    for directory, manifest in runs_newest_first():
        if manifest.kind != kind or manifest.task.name != task:
            continue
        try:
            figures = read_run_figures(directory, manifest)
        except BenchwrightError:
            continue  # skip runs that cannot be read
        own = models_of(manifest) == [model]
        if (
            not figures.done
            or not figures.completion_tokens
            or figures.simulated
            or not (own or of_others is None)
        ):
            continue
        found = CostPerTrial(
            figures.requests / figures.done if figures.requests else None,
            figures.prompt_tokens / figures.done,
            figures.completion_tokens / figures.done,
            basis=f"as in run {manifest.id} of {'this model' if own else make_safe(', '.join(models_of(manifest)))}",
        )
        if own:
            return found
        of_others = found
    return of_others
