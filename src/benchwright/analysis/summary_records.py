"""The records of a run's summary: the run, its targets, and their scores (see `analysis.summary`)."""

from __future__ import annotations

import msgspec

from benchwright.analysis.deciding.records import RunDecision
from benchwright.analysis.differences import Difference
from benchwright.analysis.equal_repeats import EqualRepeats
from benchwright.analysis.judged.records import Certificate, Judge
from benchwright.analysis.pass_at_k import PassAtK
from benchwright.analysis.request_summary import RequestSummary
from benchwright.analysis.suspicious_passes import SuspiciousPasses
from benchwright.analysis.thinking import ThinkingCutOff
from benchwright.catalog.benchmark import Figure
from benchwright.records import Record
from benchwright.runs.manifest import Origin
from benchwright.runs.manifest_facts import model_with_agent
from benchwright.runs.process_delays import LoopLag
from benchwright.statistic import NoScore, Statistic


class ScoreSummary(Record, frozen=True):
    """One score over the trials of one target, counted by the rule of `runs.counting`.

    - `n`: number of finished trials.
    - `n_scored`: number of trials with a score.
    - `no_answer`: number of scored trials that got 0 because the model returned nothing to score.
    - `unparsed`: number of these trials that have a text, in which the scorer found no answer.
    - `grader_errors`: number of trials without a score because the scorer failed. The other trials without a
      score failed before.
    - `low`, `high`: confidence interval of `mean_scored`, by `method`.
    - `bounds`: the lowest and highest mean if the failed trials had been scored; None if the range of the score
      is unknown.
    - `documented_*`: figures that also count failures as 0. In JSON they are named `mean`, `std`, `min` and
      `max`, and are 0 if nothing was scored. The properties `mean`, `std`, `min` and `max` return a `NoScore`
      instead of that 0.
    - `judge`: the model that gave the score, if any.
    - `certificate`: the comparison of this judge with human labels, if there are any.
    """

    scorer: str
    n: int
    n_scored: int
    unparsed: int
    grader_errors: int
    documented_mean: float = msgspec.field(name="mean")
    documented_std: float = msgspec.field(name="std")
    documented_min: float = msgspec.field(name="min")
    documented_max: float = msgspec.field(name="max")
    mean_scored: Statistic
    low: Statistic
    high: Statistic
    method: str
    n_samples: int
    n_groups: int | None
    between: float | None
    within: float | None
    bounds: tuple[float, float] | None
    passes: list[PassAtK] = []
    no_answer: int = 0
    judge: Judge | None = None
    certificate: Certificate | None = None

    @property
    def no_score(self) -> NoScore | None:
        """The reason why no trial has this score. None if a trial has it."""
        return self.mean_scored if isinstance(self.mean_scored, NoScore) else None

    @property
    def mean(self) -> Statistic:
        """The documented mean, in which failures count as 0."""
        return self._if_scored(self.documented_mean)

    @property
    def std(self) -> Statistic:
        """The documented standard deviation (population), in which failures count as 0."""
        return self._if_scored(self.documented_std)

    @property
    def min(self) -> Statistic:
        """The lowest score. Failures count as 0."""
        return self._if_scored(self.documented_min)

    @property
    def max(self) -> Statistic:
        """The highest score. Failures count as 0."""
        return self._if_scored(self.documented_max)

    def _if_scored(self, documented: float) -> Statistic:
        return documented if self.no_score is None else self.no_score


class TargetSummary(Record, frozen=True):
    """Results of one target. `statuses`: number of trials by status.

    `reused`: number of trials from earlier runs. `cut_off`: number of trials that were in flight when the run
    was stopped; they do not count, and are asked again. `failures`: the most frequent reasons why trials
    failed, with counts. `equal_repeats`: set if all repeats got the same answer at a temperature above 0.
    `suspicious`: set if trials have flags, or if agents ran in containers. `agent`: the command-line agent that
    asked the model, with its version. `thinking_cut_off`: set if the model reached its token limit in some
    trials while still thinking. `figures`: the figures that a benchmark itself defines, once the run is
    reported.
    """

    slot: str
    model: str
    base_url: str
    trials: int
    statuses: dict[str, int]
    scores: list[ScoreSummary]
    requests: RequestSummary
    other_roles: dict[str, int] = {}
    reused: int = 0
    failures: dict[str, int] = {}
    cut_off: int = 0
    equal_repeats: EqualRepeats | None = None
    name: str = ""
    suspicious: SuspiciousPasses | None = None
    agent: str = ""
    thinking_cut_off: ThinkingCutOff | None = None
    figures: list[Figure] = []

    @property
    def title(self) -> str:
        """The name of the target.

        The name of its model follows if it differs, and then the command-line agent, if any.
        """
        return model_with_agent(
            self.name if self.name == self.model else f"{self.name}: {self.model}", self.agent
        )


class RunSummary(Record, frozen=True):
    """The summary of a run. `planned`: number of planned trials; None if it is not known.

    `concurrency`: the concurrency to which all timings apply. It is the given number, or the level at which the
    automatic concurrency settled; None if it did not settle, or settled at several levels. `found_concurrency`:
    all levels at which the automatic concurrency settled, or the last level if it did not settle. `shortfalls`:
    figures that could not be computed, with reasons (see `analysis.shortfalls`). `timings_note`: explains why
    the timings are not valid, and what could help. `name`: the given name (`--name`), or a generated one.
    `note`: the user's note on the run. `decision`: the decision on the run's question (`--until`).
    `differences`: the differences between targets. A run with a question has none until all samples were asked,
    because a test for a fixed number of samples does not hold if this number depends on the results. `origin`:
    the source of an imported run.
    """

    run: str
    kind: str
    name: str
    state: str
    planned: int | None
    done: int
    repeats: int
    targets: list[TargetSummary]
    lag: LoopLag
    timings_valid: bool
    simulated: bool
    stop_reason: str | None = None
    cpu_seconds: float = 0.0
    differences: list[Difference] = []
    concurrency: int | None = None
    found_concurrency: list[int] = []
    shortfalls: list[str] = []
    timings_note: str | None = None
    note: str = ""
    decision: RunDecision | None = None
    origin: Origin | None = None

    @property
    def names(self) -> dict[str, str]:
        """Mapping from the slot of each target to its name."""
        return {target.slot: target.name for target in self.targets}
