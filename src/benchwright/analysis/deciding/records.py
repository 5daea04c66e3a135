"""Decision on a run's question, as plain data; `--json` prints it as `decision`."""

from __future__ import annotations

from typing import Literal

from benchwright.records import Record
from benchwright.runs.question import QuestionGoal
from benchwright.statistic import Statistic

DecisionVerdict = Literal["better", "worse", "not_worse", "equivalent", "undecided"]
"""Verdict on the new model compared with the old one."""


class DecisionPoint(Record, frozen=True):
    """A point in the history of a decision: the difference and its interval after this many samples."""

    samples: int
    difference: float
    low: float
    high: float


class ModelDecision(Record, frozen=True):
    """The verdict by one score on one model compared with the old one, after `used` samples.

    `difference`: new - old, in units of the score. `low`, `high`: its interval, which is valid at any stopping
    time. The interval is wrong with probability at most `error`, this comparison's share of the total error.
    Half of the error is at each end, or all of it at the one end that matters (see `goal`). `path`: history of
    the interval. `narrower`: the share by which earlier results of other models made the interval narrower. If
    nothing of a model was scored yet, the difference and the ends of its interval are all the same `NoScore`.
    """

    model: str
    than: str
    score: str
    verdict: DecisionVerdict
    difference: Statistic
    low: Statistic
    high: Statistic
    error: float
    used: int
    slot: str = ""
    unit: bool = True
    path: list[DecisionPoint] = []
    narrower: float | None = None


class RunDecision(Record, frozen=True):
    """The decision of a run with a question (`--until`).

    `used`: number of samples, from the beginning of the random order of `planned` samples, that were enough
    for all verdicts. While undecided, it is the number of samples that are complete so far. `beyond`: number
    of finished trials of samples after the used ones. `over`: False while samples are left to ask.
    `difference`, `low`, `high`: set if there is only one comparison. `verdict`: of the verdicts of all
    comparisons, the least favourable for the new model. The savings are extrapolated from the trials that
    were made. `refusal`: the reason why there can be no decision.
    """

    verdict: DecisionVerdict
    goal: QuestionGoal
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
    def is_decided(self) -> bool:
        """True if every comparison has a verdict."""
        return self.verdict != "undecided" and self.refusal is None
