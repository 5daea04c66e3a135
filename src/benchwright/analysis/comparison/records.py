"""What a comparison found, as plain data; `compare --json` prints it as it is."""

from __future__ import annotations

from typing import Literal

from benchwright.analysis.joint.records import ByConcurrency, JointView
from benchwright.records import Record
from benchwright.runs.about import titled
from benchwright.statistic import NoScore, Statistic

Verdict = Literal["better", "worse", "no difference found", "undecided"]
"""Of B against A. `undecided`: the data support no test at all."""

Policy = Literal["usual", "dropped", "zero", "best", "worst"]
"""How trials without a score are counted.

usual    no answer found counts 0, what failed (provider, agent, grader) is left out
dropped  both are left out
zero     both count 0, as the documented means do
best     the bound in favour of B: those of B count 1, those of A 0
worst    the bound against B: those of B count 0, those of A 1
"""


class RunScore(Record, frozen=True):
    """A score of one side: the mean of what is scored of its trials, where no answer counts 0."""

    score: str
    n_scored: int
    mean: Statistic

    @property
    def no_score(self) -> NoScore | None:
        """Why nothing was scored; None if something was."""
        return self.mean if isinstance(self.mean, NoScore) else None


class ComparedRun(Record, frozen=True):
    """One of the sides, under its letter; `name` is what people read in its place (see `names`).

    Of `trials`, `errors` failed and `no_answer` had none, by the first score.
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
    """The same difference by another way of counting what has no score."""

    policy: Policy
    n: int
    difference: float
    verdict: Verdict
    low: float | None = None
    high: float | None = None
    p_value: float | None = None


class Change(Record, frozen=True):
    """A repeat of a sample whose score differs; the answers as far as they were taken for one, cut where long."""

    sample: str
    repeat: int
    a: float
    b: float
    answer_a: str | None = None
    answer_b: str | None = None


class ScoreComparison(Record, frozen=True):
    """How much better B is than A by one score, over the `n` samples of both (repeats averaged per sample).

    `low` and `high` are the interval of `difference` at `confidence`, made by `method`; `p_value` is two-sided,
    by `test`; `p_adjusted` is Holm's over all scores and pairs of the comparison, None where there is but one;
    `p_exact` is the exact McNemar test, for 0/1 scores without repeats and groups. `detectable` is the smallest
    true difference that would probably (80 %) have shown. `score_b` is what the program of B calls the score, if it has
    another name there. `unit` says that all values lie in [0, 1], so that a
    difference can be told in points. `noise` is how far two runs like these lie apart by chance, 95 % of the time,
    where both are of one model and have repeats. `unpaired` says why nothing was paired; `n` is then 0
    and wins, losses and ties mean nothing. `n_a` and `n_b` are the samples with a value on either side.
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
        """The name of the score; where the programs call it by different names, both."""
        return self.score if self.score_b is None else f"{self.score} / {self.score_b}"


class PartDifference(Record, frozen=True):
    """The difference B - A over the samples with one value of a label; `n` of them are on both sides.

    0 where nothing is paired. `low` and `high` are its interval, by itself.
    """

    value: str
    n: int
    mean_a: float
    mean_b: float
    difference: float
    low: float | None = None
    high: float | None = None


class ScoreBreakdown(Record, frozen=True):
    """The differences by the values of a label, the largest loss first; `left_out` have too few trials to be told."""

    label: str
    score: str
    unit: bool
    parts: list[PartDifference]
    left_out: int = 0


class SettingDifference(Record, frozen=True):
    """A setting that the two do not share; None where it is not set."""

    name: str
    a: str | None
    b: str | None


class LatencyComparison(Record, frozen=True):
    """The difference b - a of one percentile of the requests, in seconds; an end that the data cannot give is None."""

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
    """A sample of both sides whose `what` is not the same: its text in A and in B, shortened; None where there is none.

    Of a sample that was asked otherwise the answers are not compared, unless a column of the data names the samples.
    """

    sample: str
    what: Literal["gold answer", "prompt"]
    a: str | None
    b: str | None


class DataDifferences(Record, frozen=True):
    """In what the data of two sides differ. `both` samples are on both sides; the others are named.

    Of `checked` of them prompts and gold answers are known of both sides. `unknown` says why it cannot be told, with
    nothing else.
    """

    both: int = 0
    checked: int = 0
    samples: list[SampleDifference] = []
    only_a: list[str] = []
    only_b: list[str] = []
    unknown: str | None = None

    @property
    def none(self) -> bool:
        """Whether the data were found to be the same."""
        alone = self.only_a or self.only_b
        return self.checked == self.both > 0 and not self.samples and not alone and self.unknown is None

    def count(self, what: str) -> int:
        """Return the number of samples that differ in this."""
        return sum(one.what == what for one in self.samples)


class PairComparison(Record, frozen=True):
    """B against A. `refusals` say why they are not comparable; without `anyway` that is then all there is.

    `alignment` tells how samples were matched, `data` in what the data differ if they are not known to be the same,
    `settings` which settings differ besides the model, `notes` the same and what else is to be known, `no_latency` why
    speed was not compared.
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
        """Whether nothing was compared."""
        return bool(self.refusals) and not self.anyway


class TogetherComparison(Record, frozen=True):
    """All tasks of two folders together: the mean of the differences B - A of `tasks`, each of which weighs the same.

    `scores` has the score of each task, `n` are all of their samples. `low` and `high` are the interval of the
    difference, `p_value` is two-sided, `p_adjusted` Holm's among all tests of the comparison. `left_out` says of other
    tasks why they are not in it. `model` is there if the folders hold several models, which are compared each.
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
    """One rule of `--fail-if` or `--max-regression`, and what came of it."""

    rule: str
    passed: bool
    explanation: str


class Comparison(Record, frozen=True):
    """All of it. `metrics` are the names and values that `--fail-if` knows; `tests` is the size of Holm's family.

    `joint` has quality and speed of each run that has times, `by_concurrency` runs that differ in that only, `together`
    all tasks of folders together.
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
        """Whether any rule did not hold."""
        return not all(ruling.passed for ruling in self.rulings)
