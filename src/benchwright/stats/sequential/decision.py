"""Sequential verdicts: better, worse, not worse or equivalent, at the first moment when a verdict is certain.

| goal | verdict | when |
|---|---|---|
| difference | equivalent | -margin < low and high < margin (needs a margin) |
| | better | 0 < low |
| | worse | high < 0 |
| not_worse | not_worse | -margin < low |
| | worse | high < -margin |

low and high are the ends of the interval of new - old. Each verdict follows from `ConfidenceSequence` alone, so
it may be checked after every unit. It is wrong with probability at most `error`, whatever the true difference d
is:

- difference: both ends together hold with probability 1 - error, half of the error on each side. If d = 0,
  better or worse is wrong with probability at most error. If |d| >= margin, equivalent is wrong only if the end
  on that side is wrong: error / 2. The same holds for a verdict with the opposite sign.
- not_worse: each end alone has the whole error, as only one of the two verdicts can be wrong: not_worse if d <=
  -margin, worse if d >= -margin. The interval is the one of two one-sided tests (Schuirmann 1987): it holds d
  with probability 1 - 2 error.

The goal, margin and error are set before the first look. The same units cannot also serve a verdict for the
other goal at the same error.
"""

from __future__ import annotations

from typing import Literal, get_args

import msgspec
import numpy as np

from benchwright.stats.intervals import Interval
from benchwright.stats.sequential.confidence_sequence import ConfidenceSequence

DecisionGoal = Literal["difference", "not_worse"]
SequentialVerdict = Literal["better", "worse", "not_worse", "equivalent"]


class SequentialDecision(msgspec.Struct, frozen=True, omit_defaults=True):
    """The current decision after `units` of `planned` units. `verdict_of_interval` is None while undecided.

    `interval` is valid at every moment, however often it is read.
    """

    verdict: SequentialVerdict | None
    difference: float
    interval: Interval
    units: int
    planned: int
    goal: DecisionGoal
    margin: float
    error: float
    finite: bool


class SequentialTest:
    """Sequential test of the differences new - old.

    It processes them unit by unit and keeps the first verdict. Units after the verdict do not change it. No
    verdict is made before `at_least` units. `among` is the number of questions that share the error; see
    `question_family.QuestionFamily`. The other arguments are those of `ConfidenceSequence`.

    Raises:
        ValueError: If the margin is negative, the goal is unknown, or `ConfidenceSequence` refuses an argument.
    """

    def __init__(
        self,
        planned: int,
        *,
        goal: DecisionGoal = "difference",
        margin: float = 0.0,
        error: float = 0.05,
        at_least: int = 1,
        bounds: tuple[float, float] = (-1.0, 1.0),
        finite: bool = False,
        reach: float = 0.0,
        among: int = 1,
    ) -> None:
        if margin < 0 or goal not in get_args(DecisionGoal):
            raise ValueError(f"no such question: goal {goal!r}, margin {margin}")
        shares = error / np.arange(1, among + 1)
        self.running = ConfidenceSequence(
            planned,
            side_error=shares / 2 if goal == "difference" else shares,
            bounds=bounds,
            finite=finite,
            thresholds=tuple(one for one in (-margin, 0.0, margin) if bounds[0] <= one <= bounds[1]),
            reach=reach,
            shape=(among,),
        )
        self.verdict: SequentialVerdict | None = None
        self._goal, self._margin, self._shares, self._at_least = goal, margin, shares, at_least
        self._open = among
        self._sum, self._weight = 0.0, 0.0

    def add(
        self, least: float, most: float | None = None, *, weight: float = 1.0, expected: float = 0.0
    ) -> SequentialVerdict | None:
        """Process the next unit, with the arguments of `ConfidenceSequence.add`.

        Return the verdict. Return None while undecided.
        """
        if self.verdict is None:
            self.running.add(least, most, weight=weight, expected=expected)
            self._sum += weight * (least if most is None else (least + most) / 2)
            self._weight += weight
            self._look()
        return self.verdict

    def set_error_share(self, undecided: int) -> SequentialVerdict | None:
        """Set the error of this question to error / `undecided`, its share of the error that several questions
        have together.

        `undecided` is the number of undecided questions, including this one. Return the verdict. Return None
        while undecided.
        """
        if self.verdict is None:
            self._open = undecided
            self._look()
        return self.verdict

    def _look(self) -> None:
        if self.running.units >= max(self._at_least, 1):
            self.verdict = verdict_of_interval(self.interval, self._goal, self._margin)

    @property
    def interval(self) -> Interval:
        """The interval so far, at this question's current share of the error."""
        return Interval(float(self.running.low[self._open - 1]), float(self.running.high[self._open - 1]))

    @property
    def decision(self) -> SequentialDecision:
        """The current decision.

        Its difference is the mean over the units; the value of a unit that is not known counts as the midpoint
        of its bounds.
        """
        return SequentialDecision(
            verdict=self.verdict,
            difference=self._sum / self._weight if self._weight else 0.0,
            interval=self.interval,
            units=self.running.units,
            planned=self.running.planned,
            goal=self._goal,
            margin=self._margin,
            error=float(self._shares[self._open - 1]),
            finite=self.running.finite,
        )


def verdict_of_interval(interval: Interval, goal: DecisionGoal, margin: float) -> SequentialVerdict | None:
    """Return the verdict that an interval of new - old allows, by the table in the module's docstring.

    None if undecided.
    """
    low, high = interval
    if goal == "not_worse":
        return "not_worse" if low > -margin else "worse" if high < -margin else None
    if -margin < low and high < margin:
        return "equivalent"
    return "better" if low > 0 else "worse" if high < 0 else None
