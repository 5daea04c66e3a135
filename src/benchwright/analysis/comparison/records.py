"""The result of a comparison, as plain data. `compare --json` prints these records unchanged."""

from __future__ import annotations

from typing import Literal

from benchwright.analysis.quality_and_speed.records import ConcurrencyTable, JointView
from benchwright.records import Record
from benchwright.runs.manifest_facts import model_with_agent
from benchwright.statistic import NoScore, Statistic

ComparisonVerdict = Literal["better", "worse", "no difference found", "undecided"]
"""Verdict on B compared with A. `undecided`: the data do not support any test."""

CountingPolicy = Literal["usual", "dropped", "zero", "best", "worst"]
"""How trials without a score are counted.

usual    trials without an answer count as 0; failed trials (provider, agent, grader) are left out
dropped  trials without an answer and failed trials are left out
zero     trials without an answer and failed trials count as 0, as in the documented means
best     the bound in favour of B: such trials of B count as 1, such trials of A as 0
worst    the bound against B: such trials of B count as 0, such trials of A as 1
"""


class RunScore(Record, frozen=True):
    """A score of one side: the mean over its scored trials. Trials without an answer count as 0."""

    score: str
    n_scored: int
    mean: Statistic

    @property
    def no_score(self) -> NoScore | None:
        """The reason why nothing was scored. None if something was scored."""
        return self.mean if isinstance(self.mean, NoScore) else None


class ComparedRun(Record, frozen=True):
    """One side of the comparison.

    `letter` identifies the side. `name` replaces the letter in readable output (see `names`). `trials`:
    number of trials. `errors`: number of trials that failed. `no_answer`: number of trials without an answer.
    `errors` and `no_answer` are counted by the first score.
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
        """The side's model, followed by the agent that asked the model, if any."""
        return model_with_agent(self.model, self.agent)


class PolicyResult(Record, frozen=True):
    """The difference of a score if trials without a score are counted by another policy than the usual one."""

    policy: CountingPolicy
    n: int
    difference: float
    verdict: ComparisonVerdict
    low: float | None = None
    high: float | None = None
    p_value: float | None = None


class ScoreChange(Record, frozen=True):
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
    """Comparison of B with A by one score, over the `n` samples that both have (repeats averaged per sample).

    `difference`: B - A. `low`, `high`: the interval of the difference at `confidence`, computed by `method`.
    `p_value`: two-sided, by `test`. `p_adjusted`: the p-value adjusted by Holm over all scores and pairs of
    the comparison; None if there is only one test. `p_exact`: p-value of McNemar's exact test, only for 0/1
    scores without repeats and clusters. `detectable`: the smallest true difference that would have been
    detected with 80 % power. `score_b`: the score's name in B's program, if it differs. `unit`: True if all
    values are in [0, 1], so that a difference can be expressed in points. `noise`: the largest difference
    that chance alone causes, 95 % of the time, between two runs like these; None unless both sides are of one
    model and have repeats. `unpaired`: the reason why no samples were paired; `n`, `wins`, `losses` and
    `ties` are then 0. `n_a`: number of samples with a value on side A. `n_b`: number of samples with a value
    on side B. `n_groups`: number of clusters of samples.
    """

    score: str
    n: int
    n_a: int
    n_b: int
    mean_a: float
    mean_b: float
    difference: float
    verdict: ComparisonVerdict
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
    changes: list[ScoreChange] = []
    score_b: str | None = None

    @property
    def title(self) -> str:
        """The name of the score.

        If the programs of A and B name the score differently, it contains both names.
        """
        return self.score if self.score_b is None else f"{self.score} / {self.score_b}"

    def gain_of_change(self, change: ScoreChange) -> float:
        """Return by how much B is better than A on a trial. The result is negative if B is worse."""
        return change.a - change.b if self.lower_is_better else change.b - change.a

    def won_and_lost_changes(self) -> tuple[list[ScoreChange], list[ScoreChange]]:
        """Return the changed trials in which B is better, and those in which B is worse."""
        won = [change for change in self.changes if self.gain_of_change(change) > 0]
        return won, [change for change in self.changes if self.gain_of_change(change) < 0]


class LabelValueDifference(Record, frozen=True):
    """The difference B - A over the samples with one value of a label.

    `n`: number of samples with this value that both sides have. It is 0 if no samples are paired. `low`,
    `high`: the interval for this label value alone, without correction for several label values.
    """

    value: str
    n: int
    mean_a: float
    mean_b: float
    difference: float
    low: float | None = None
    high: float | None = None


class ScoreBreakdown(Record, frozen=True):
    """The differences by the values of a label. The largest loss comes first.

    `left_out`: number of label values with too few trials.
    """

    label: str
    score: str
    unit: bool
    parts: list[LabelValueDifference]
    left_out: int = 0


class SettingDifference(Record, frozen=True):
    """A setting that differs between A and B. `a`, `b`: its value in A and in B; None if it is not set."""

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
    """A sample on both sides whose gold answer or prompt differs. `what`: which of the two differs.

    `a`: the text in A, shortened. `b`: the text in B, shortened. Each is None if the side has no such text.
    If the prompts differ, the sample's answers are not compared, unless a column of the data names the
    samples.
    """

    sample: str
    what: Literal["gold answer", "prompt"]
    a: str | None
    b: str | None


class DataDifferences(Record, frozen=True):
    """Differences between the data of two sides.

    `both`: number of samples that both sides have. `only_a`: number of samples that only A has. `only_b`:
    number of samples that only B has. `checked`: number of common samples whose prompts and gold answers are
    known on both sides. `unknown`: the reason why the data could not be compared; all other fields are then
    empty.
    """

    both: int = 0
    checked: int = 0
    samples: list[SampleDifference] = []
    only_a: list[str] = []
    only_b: list[str] = []
    unknown: str | None = None

    @property
    def is_empty(self) -> bool:
        """True if the data were found to be the same."""
        alone = self.only_a or self.only_b
        return self.checked == self.both > 0 and not self.samples and not alone and self.unknown is None

    def count(self, what: str) -> int:
        """Return the number of samples whose prompt or gold answer (`what`) differs."""
        return sum(one.what == what for one in self.samples)


class PairComparison(Record, frozen=True):
    """Comparison of B with A. `refusals`: the reasons why the two are not comparable.

    If there are refusals, other results are filled in only if the user asked to compare `anyway`. `alignment`:
    how samples were matched. `data`: differences between the data, if the data are not known to be the same.
    `settings`: settings that differ, except the model. `notes`: remarks for the reader, which include the
    differing settings. `no_latency`: the reason why speed was not compared.
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
    def is_refused(self) -> bool:
        """True if the comparison was refused, so that nothing was compared."""
        return bool(self.refusals) and not self.anyway


class AllTasksComparison(Record, frozen=True):
    """Mean difference B - A over the tasks that two folders share. Each task has the same weight.

    `tasks`: the tasks over which the mean is taken. `scores`: the name of the score used for each task. `n`:
    total number of samples of these tasks. `left_out`: the other tasks, with reasons. `low`, `high`: interval
    of the difference. `p_value`: two-sided. `p_adjusted`: the p-value adjusted by Holm over all tests of the
    comparison. `model`: set if the folders hold several models; each model then has a separate record.
    """

    a: str
    b: str
    tasks: list[str]
    scores: list[str]
    n: int
    mean_a: float
    mean_b: float
    difference: float
    verdict: ComparisonVerdict
    confidence: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    left_out: list[str] = []
    model: str | None = None


class GateResult(Record, frozen=True):
    """The result of one gate, a rule of `--fail-if` or `--max-regression`: whether it passed."""

    rule: str
    passed: bool
    explanation: str


class Comparison(Record, frozen=True):
    """A complete comparison of all sides.

    `metrics`: the names and values that `--fail-if` can use. `tests`: number of tests for which Holm's method
    corrects. `joint`: quality and speed of each run that has times. `by_concurrency`: the runs that differ only
    in concurrency. `together`: means over all tasks of folders. `rulings`: the gate results.
    """

    runs: list[ComparedRun]
    pairs: list[PairComparison]
    confidence: float = 0.95
    tests: int = 0
    notes: list[str] = []
    rulings: list[GateResult] = []
    metrics: dict[str, Statistic] = {}
    joint: list[JointView] = []
    by_concurrency: list[ConcurrencyTable] = []
    together: list[AllTasksComparison] = []

    @property
    def failed(self) -> bool:
        """True if any rule failed."""
        return not all(ruling.passed for ruling in self.rulings)
