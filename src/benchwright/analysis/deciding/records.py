"""Decision on a run's question, as plain data; `--json` prints it as `decision`."""

from __future__ import annotations

from typing import Literal

from benchwright.records import Record
from benchwright.runs.question import Goal
from benchwright.statistic import Statistic

Verdict = Literal["better", "worse", "not_worse", "equivalent", "undecided"]
"""Verdict on the new model against the old one."""


class Moment(Record, frozen=True):
    """The state of the decision after this many samples."""

    samples: int
    difference: float
    low: float
    high: float


class ModelDecision(Record, frozen=True):
    """The verdict on one score of one model against the old one, after `used` samples.

    `difference` is new - old, in units of the score. `low` and `high` contain it with an error of at most
    `error`, this comparison's share (half of it at each end, or all of it at the one end that matters, see
    `goal`), however often one looks. `path` is the history of the interval. `narrower` is the share by which
    earlier results of other models made it narrower. The difference and its interval are the same `NoScore`
    if nothing of a model was scored yet.
    """

    model: str
    than: str
    score: str
    verdict: Verdict
    difference: Statistic
    low: Statistic
    high: Statistic
    error: float
    used: int
    slot: str = ""
    unit: bool = True
    path: list[Moment] = []
    narrower: float | None = None


class RunDecision(Record, frozen=True):
    """The decision of a run with a question.

    `used` of the `planned` samples, from the beginning of their random order, were enough for all verdicts,
    or are complete so far; `beyond` trials were finished after them. `over` is False while samples are left
    to ask. `difference`, `low` and `high` are set if there is one comparison, and `verdict` is the least
    favourable one. The savings are extrapolated from the trials that were made. `refusal` is the reason why
    there can be no decision.
    """

    verdict: Verdict
    goal: Goal
    margin: float
    error: float
    used: int
    planned: int
    method: str
    order_seed: int
    over: bool
    models: list[ModelDecision]
    difference: Statistic = None
    low: Statistic = None
    high: Statistic = None
    finite: bool = False
    groups: bool = False
    beyond: int = 0
    trials_saved: int = 0
    requests_saved: int = 0
    tokens_saved: int = 0
    refusal: str | None = None

    @property
    def decided(self) -> bool:
        """True if every comparison has a verdict."""
        return self.verdict != "undecided" and self.refusal is None
