"""A comparison of load measurements, as plain data. Changes are shares: 0.12 is 12 % more."""

from __future__ import annotations

from typing import Literal

from benchwright.analysis.comparison.records import GateResult
from benchwright.analysis.load.figure_records import FigureEstimate
from benchwright.analysis.load.records import LoadLevel, LoadReport
from benchwright.records import Record

LoadVerdict = Literal["better", "worse", "no difference found", "unknown"]


class LoadSide(Record, frozen=True):
    """A measurement that is compared. `levels`: names of its levels.

    `runs`: number of times that each level was measured.
    """

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
    """Change of a figure from A to B at a level. `change` is b / a - 1, with its 95 % interval.

    `p_adjusted`: the p-value adjusted by Holm over all compared figures; the `verdict` follows from it. The
    verdict is unknown if there are too few requests for an interval. `level_a` and `level_b` differ only if the
    best levels of A and B are compared.
    """

    measure: str
    level_a: LoadLevel
    level_b: LoadLevel
    a: FigureEstimate
    b: FigureEstimate
    change: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    verdict: LoadVerdict = "unknown"


class LoadPair(Record, frozen=True):
    """Comparison of two measurements.

    `best`: change from the highest rate of one to the highest rate of the other, at whichever levels.
    `changes`: changes at each level.

    `refusals`: the reasons why the two are not compared. `notes`: further remarks. `silent`: the levels at
    which `a` had answers and `b` had none.
    """

    a: str
    b: str
    best: LoadChange | None = None
    changes: list[LoadChange] = []
    refusals: list[str] = []
    notes: list[str] = []
    silent: list[str] = []


class LoadComparisonResult(Record, frozen=True):
    """A complete comparison of load measurements.

    `tests`: number of tests for which Holm's method corrects. `metrics`: names and values that `--fail-if` can
    use.
    """

    sides: list[LoadSide]
    pairs: list[LoadPair]
    tests: int = 0
    rulings: list[GateResult] = []
    metrics: dict[str, float | None] = {}

    @property
    def failed(self) -> bool:
        """True if a rule failed."""
        return not all(ruling.passed for ruling in self.rulings)


class LoadComparison(Record, frozen=True):
    """Measurements of several models, made one after the other with the same prompts, and their comparison.

    Either all measurements have the same levels, or each measurement is a sweep, which chooses its own
    levels. `compared`: the comparison of the first measurement with the other measurements. With `--against`,
    it is the comparison of that earlier measurement with these.
    """

    id: str
    reports: list[LoadReport]
    compared: LoadComparisonResult | None = None
