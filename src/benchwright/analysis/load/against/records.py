"""A comparison of measurements under load, as plain data. Changes are shares: 0.12 is 12 % more."""

from __future__ import annotations

from typing import Literal

from benchwright.analysis.comparison.records import Ruling
from benchwright.analysis.load.figure_records import Estimate
from benchwright.analysis.load.records import Level, LoadReport
from benchwright.records import Record

Verdict = Literal["better", "worse", "no difference found", "unknown"]


class LoadSide(Record, frozen=True):
    """A measurement that is compared. `levels` are the names of its levels, `runs` how often each was measured."""

    letter: str
    id: str
    model: str
    base_url: str
    task: str
    prompts: str
    levels: list[str]
    runs: int = 1
    simulated: bool = False


class LoadChange(Record, frozen=True):
    """How a figure changes from A to B at a level: `change` is b / a - 1, with its 95 % interval.

    `p_adjusted` is Holm's over all figures that are compared, and decides the `verdict`, which is unknown where the
    requests are too few for an interval. `level_a` and `level_b` differ in the best level of either only.
    """

    measure: str
    level_a: Level
    level_b: Level
    a: Estimate
    b: Estimate
    change: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    verdict: Verdict = "unknown"


class LoadPair(Record, frozen=True):
    """Two measurements: `best` compares the most that either served, at whichever level, `changes` level by level.

    `refusals` say why they are not compared, `notes` what has to be known. `silent` are the levels at which `a` had
    answers and `b` none.
    """

    a: str
    b: str
    best: LoadChange | None = None
    changes: list[LoadChange] = []
    refusals: list[str] = []
    notes: list[str] = []
    silent: list[str] = []


class LoadsCompared(Record, frozen=True):
    """All of it. `tests` is the size of Holm's family; `metrics` are the names and values that `--fail-if` knows."""

    sides: list[LoadSide]
    pairs: list[LoadPair]
    tests: int = 0
    rulings: list[Ruling] = []
    metrics: dict[str, float | None] = {}

    @property
    def failed(self) -> bool:
        """Whether a rule did not hold."""
        return not all(ruling.passed for ruling in self.rulings)


class LoadComparison(Record, frozen=True):
    """Several models, measured one after the other with the same prompts at the same levels, or a sweep for each.

    `compared` has the first, or the measurement of `--against`, against the others.
    """

    id: str
    reports: list[LoadReport]
    compared: LoadsCompared | None = None
