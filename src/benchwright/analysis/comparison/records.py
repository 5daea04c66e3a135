"""The result of a comparison, as plain data; `compare --json` prints these records unchanged."""

from __future__ import annotations

from typing import Literal

from benchwright.analysis.joint.records import ByConcurrency, JointView
from benchwright.records import Record
from benchwright.runs.about import titled
from benchwright.statistic import NoScore, Statistic

Verdict = Literal["better", "worse", "no difference found", "undecided"]
"""Verdict on B against A. `undecided`: the data support no test at all."""

Policy = Literal["usual", "dropped", "zero", "best", "worst"]
"""How trials without a score are counted.

usual    no answer counts as 0, failures (provider, agent, grader) are left out
dropped  both are left out
zero     both count as 0, as in the documented means
best     the bound in favour of B: those of B count as 1, those of A as 0
worst    the bound against B: those of B count as 0, those of A as 1
"""


class RunScore(Record, frozen=True):
    """A score of one side: the mean over its scored trials, with no answer counted as 0."""

    score: str
    n_scored: int
    mean: Statistic

    @property
    def no_score(self) -> NoScore | None:
        """The reason why nothing was scored; None if something was."""
        return self.mean if isinstance(self.mean, NoScore) else None


class ComparedRun(Record, frozen=True):
    """One of the sides, under its letter; `name` replaces the letter in readable output (see `names`).

    Of its `trials`, `errors` failed and `no_answer` have no answer, by the first score.
    """

    letter: str
    reference: str
    model: str
    task: str
    source: str
    samples: int
    trials: int
    errors: int = 0
    no_answer: int = 0
    run: str | None = None
    slot: str | None = None
    state: str | None = None
    concurrency: int | None = None
    simulated: bool = False
    name: str = ""
    agent: str = ""
    scores: list[RunScore] = []

    @property
    def title(self) -> str:
        """Its model, and the agent that asked it."""
        return titled(self.model, self.agent)


class PolicyResult(Record, frozen=True):
    """The same difference by another policy for trials without a score."""

    policy: Policy
    n: int
    difference: float
    verdict: Verdict
    low: float | None = None
    high: float | None = None
    p_value: float | None = None


class Change(Record, frozen=True):
    """A (sample, repeat) whose score differs between A and B.

    `answer_a`, `answer_b`: the extracted answers, truncated; None if none was extracted.
    """

    sample: str
    repeat: int
    a: float
    b: float
    answer_a: str | None = None
    answer_b: str | None = None


class ScoreComparison(Record, frozen=True):
    """How much better B is than A by one score, over the `n` samples of both (repeats averaged per sample).

    `low` and `high` are the interval of `difference` at `confidence`, made by `method`. `p_value` is
    two-sided, by `test`. `p_adjusted` is Holm's over all scores and pairs of the comparison, None if there is
    only one test. `p_exact` is the exact McNemar test, for 0/1 scores without repeats and groups.
    `detectable` is the smallest true difference that would have been detected with 80 % power. `score_b` is
    the name of the score in B's program, if it differs. `unit` is True if all values are in [0, 1], so that a
    difference can be expressed in points. `noise` is the largest difference by chance, 95 % of the time,
    between two runs like these; it is known if both are of one model and have repeats. `unpaired` is the
    reason why nothing was paired; `n`, wins, losses and ties are then 0. `n_a` and `n_b` are the samples with
    a value on either side.
    """

    score: str
    n: int
    n_a: int
    n_b: int
    mean_a: float
    mean_b: float
    difference: float
    verdict: Verdict
    confidence: float
    method: str
    test: str
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    p_exact: float | None = None
    detectable: float | None = None
    se: float | None = None
    noise: float | None = None
    unit: bool = True
    lower_is_better: bool = False
    wins: int = 0
    losses: int = 0
    ties: int = 0
    n_groups: int | None = None
    unpaired: str | None = None
    errors_a: int = 0
    errors_b: int = 0
    no_answer_a: int = 0
    no_answer_b: int = 0
    counted: list[PolicyResult] = []
    depends: bool = False
    changes: list[Change] = []
    score_b: str | None = None

    @property
    def title(self) -> str:
        """The name of the score; both names if the programs use different ones."""
        return self.score if self.score_b is None else f"{self.score} / {self.score_b}"


class PartDifference(Record, frozen=True):
    """The difference B - A over the samples with one value of a label; `n` of them are on both sides.

    `n` is 0 if nothing is paired. `low` and `high` are the interval of this part alone, without correction
    for several parts.
    """

    value: str
    n: int
    mean_a: float
    mean_b: float
    difference: float
    low: float | None = None
    high: float | None = None


class ScoreBreakdown(Record, frozen=True):
    """The differences by the values of a label, the largest loss first; `left_out` values have too few trials."""

    label: str
    score: str
    unit: bool
    parts: list[PartDifference]
    left_out: int = 0


class SettingDifference(Record, frozen=True):
    """A setting that differs between the two sides; None if it is not set."""

    name: str
    a: str | None
    b: str | None


class LatencyComparison(Record, frozen=True):
    """The difference b - a of one percentile of request times, in seconds.

    An end of the interval is None if the data cannot support it.
    """

    metric: Literal["ttft", "latency"]
    q: float
    a: float
    b: float
    difference: float
    n_a: int
    n_b: int
    low: float | None = None
    high: float | None = None


class SampleDifference(Record, frozen=True):
    """A sample of both sides whose `what` differs: its text in A and in B, shortened; None if there is none.

    If the prompts of a sample differ, its answers are not compared, unless a column of the data names the
    samples.
    """

    sample: str
    what: Literal["gold answer", "prompt"]
    a: str | None
    b: str | None


class DataDifferences(Record, frozen=True):
    """Differences between the data of two sides. `both` counts the samples on both sides; the others are listed.

    `checked` counts those whose prompts and gold answers are known on both sides. `unknown` is the reason why
    the data could not be compared; all other fields are then empty.
    """

    both: int = 0
    checked: int = 0
    samples: list[SampleDifference] = []
    only_a: list[str] = []
    only_b: list[str] = []
    unknown: str | None = None

    @property
    def none(self) -> bool:
        """True if the data were found to be the same."""
        alone = self.only_a or self.only_b
        return self.checked == self.both > 0 and not self.samples and not alone and self.unknown is None

    def count(self, what: str) -> int:
        """Return the number of samples that differ in `what`."""
        return sum(one.what == what for one in self.samples)


class PairComparison(Record, frozen=True):
    """Comparison of B with A. `refusals` are the reasons why they are not comparable.

    With refusals and without `anyway`, nothing else is filled in. `alignment` describes how samples were
    matched, `data` the differences between the data if they are not known to be the same, `settings` the
    differing settings besides the model. `notes` repeats the settings and adds other remarks. `no_latency` is
    the reason why speed was not compared.
    """

    a: str
    b: str
    task: str
    refusals: list[str] = []
    anyway: bool = False
    alignment: str = ""
    notes: list[str] = []
    scores: list[ScoreComparison] = []
    breakdowns: list[ScoreBreakdown] = []
    settings: list[SettingDifference] = []
    latencies: list[LatencyComparison] = []
    no_latency: str | None = None
    data: DataDifferences | None = None

    @property
    def refused(self) -> bool:
        """True if nothing was compared."""
        return bool(self.refusals) and not self.anyway


class TogetherComparison(Record, frozen=True):
    """All tasks of two folders together: the mean of the differences B - A of `tasks`, with equal weights.

    `scores` has the score of each task, `n` counts all of their samples. `low` and `high` are the interval of
    the difference, `p_value` is two-sided, `p_adjusted` is Holm's among all tests of the comparison.
    `left_out` lists the other tasks with the reasons. `model` is set if the folders hold several models, each
    of which is compared separately.
    """

    a: str
    b: str
    tasks: list[str]
    scores: list[str]
    n: int
    mean_a: float
    mean_b: float
    difference: float
    verdict: Verdict
    confidence: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    left_out: list[str] = []
    model: str | None = None


class Ruling(Record, frozen=True):
    """Gate result: one rule of `--fail-if` or `--max-regression`, and whether it passed."""

    rule: str
    passed: bool
    explanation: str


class Comparison(Record, frozen=True):
    """A complete comparison.

    `metrics` are the names and values that `--fail-if` can use; `tests` is the size of Holm's family. `joint`
    has quality and speed of each run with times, `by_concurrency` the runs that differ only in concurrency,
    `together` all tasks of folders together.
    """

    runs: list[ComparedRun]
    pairs: list[PairComparison]
    confidence: float = 0.95
    tests: int = 0
    notes: list[str] = []
    rulings: list[Ruling] = []
    metrics: dict[str, Statistic] = {}
    joint: list[JointView] = []
    by_concurrency: list[ByConcurrency] = []
    together: list[TogetherComparison] = []

    @property
    def failed(self) -> bool:
        """True if any rule failed."""
        return not all(ruling.passed for ruling in self.rulings)
