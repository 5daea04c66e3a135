"""The contents of a report as plain data. Times are in seconds; letters identify the runs."""

from __future__ import annotations

from typing import Literal, NamedTuple

from benchwright.analysis.comparison.records import Comparison, ScoreChange
from benchwright.analysis.deciding.records import RunDecision
from benchwright.analysis.load.plot_data import DetailedLoad
from benchwright.analysis.quality_and_speed.pareto_fronts import ParetoFront, ResourcesPerTrial
from benchwright.analysis.request_summary import RequestSummary
from benchwright.analysis.summary_records import ScoreSummary
from benchwright.catalog.benchmark import Figure
from benchwright.records import Record
from benchwright.statistic import Statistic


class TextPiece(NamedTuple):
    """A piece of a text.

    Its kind is `text` (unchanged), `span` (the extracted answer), or `cut` (a note on omitted text).
    """

    kind: Literal["text", "span", "cut"]
    text: str


TextPieces = list[TextPiece]


class ShownCall(Record, frozen=True):
    """A tool call as displayed in a conversation."""

    name: str
    arguments: TextPieces


class ShownPicture(Record, frozen=True):
    """A small image of a message: the image re-encoded as a data URL, and its `description`."""

    url: str
    description: str


class ShownMessage(Record, frozen=True):
    """One message as displayed. Only small images are shown; the text mentions all images."""

    role: str
    pieces: TextPieces = []
    reasoning: TextPieces = []
    calls: list[ShownCall] = []
    pictures: list[ShownPicture] = []


class Grade(Record, frozen=True):
    """One score of a trial: its value or the reason why there is none, the extracted answer, and the scorer's
    details.
    """

    scorer: str
    value: float | None
    status: str
    span: TextPieces = []
    detail: TextPieces = []


class ShownFlag(Record, frozen=True):
    """A flag: a sign that a trial was passed without solving its task.

    `kind`: the kind of the flag, in words. `evidence`: the reason for the flag.
    """

    kind: str
    evidence: TextPieces = []


class Conversation(Record, frozen=True):
    """The conversation of one attempt at a trial. `selection_reason`: the reason why the trial was chosen.

    `left_out`: number of messages that were omitted.
    """

    sample: str
    repeat: int
    attempt: int
    status: str
    seconds: float
    reason: TextPieces = []
    selection_reason: str = ""
    messages: list[ShownMessage] = []
    left_out: int = 0
    grades: list[Grade] = []
    notes: list[TextPieces] = []
    flags: list[ShownFlag] = []
    requests: list[str] = []
    result: TextPieces = []


class TrialTexts(Record, frozen=True):
    """Preview of a trial: its input, the expected answer, and the model's answer."""

    input: TextPieces = []
    target: TextPieces = []
    answer: TextPieces = []


class Flip(Record, frozen=True):
    """A sample whose score changed from run A to run B. `won`: True if B scored better.

    The sample has previews and conversations if the journals contain them. Otherwise these fields are None.
    """

    change: ScoreChange
    won: bool
    a: Conversation | None = None
    texts_a: TrialTexts | None = None
    b: Conversation | None = None
    texts_b: TrialTexts | None = None


class Flips(Record, frozen=True):
    """Samples whose score changed from run A to run B. `flips`: the samples that are shown.

    `won`: number of samples that B scored better. `lost`: number of samples that B scored worse. Both numbers
    include samples that are not shown.
    """

    a: str
    b: str
    score: str
    won: int
    lost: int
    flips: list[Flip] = []
    note: str = ""


class ChartMean(Record, frozen=True):
    """One run's point in a chart: the mean score over `n` scored trials of `total` trials, with its interval."""

    letter: str
    n: int
    total: int
    mean: Statistic = None
    low: Statistic = None
    high: Statistic = None


class ChartRow(Record, frozen=True):
    """One row of a chart of means, such as a label value. It has the mean of every run that has one."""

    name: str
    marks: list[ChartMean]


class Breakdown(Record, frozen=True):
    """Means of one score by the values of a label. `left_out`: number of values for which the chart has no room."""

    task: str
    label: str
    score: str
    rows: list[ChartRow]
    left_out: int = 0


class Quantile(Record, frozen=True):
    """A percentile with its interval. An end is None if the data cannot support it."""

    q: float
    value: float
    low: float | None = None
    high: float | None = None


class DistributionCurve(Record, frozen=True):
    """Distribution of the times of `n` requests, as points (seconds, share of the requests that took no longer)."""

    letter: str
    n: int
    points: list[tuple[float, float]]
    quantiles: list[Quantile]


class DistributionChart(Record, frozen=True):
    """The distributions of one kind of request time. Each run has a curve."""

    title: str
    curves: list[DistributionCurve]


class LatencyBin(Record, frozen=True):
    """The mean score of the trials that took between `low` and `high` seconds."""

    low: float
    high: float
    mark: ChartMean


class ScoreByLatency(Record, frozen=True):
    """One score by the model's time per trial. `dots`: (seconds, value) of some of the `n` trials."""

    letter: str
    score: str
    n: int
    dots: list[tuple[float, float]]
    bins: list[LatencyBin]
    repeats: bool = False


SegmentKind = Literal["waited", "connect", "first token", "generation", "answer"]


class TrialSegment(Record, frozen=True):
    """A period of a trial, in seconds from the trial's start. `kind`: what happened in it."""

    kind: SegmentKind
    start: float
    length: float


class TimedTrial(Record, frozen=True):
    """A trial in a waterfall. `start_seconds` counts from the start of the run's first trial."""

    sample: str
    repeat: int
    start_seconds: float
    length: float
    segments: list[TrialSegment]


class Waterfall(Record, frozen=True):
    """A chart of the periods of some trials.

    `selection`: how these trials were selected among the run's `total_trials` trials.
    """

    letter: str
    selection: str
    total_trials: int
    trials: list[TimedTrial]


class ConfigurationFact(Record, frozen=True):
    """One line of the configuration table, with a value for each run."""

    name: str
    values: list[str | None]

    @property
    def differs(self) -> bool:
        """True if the runs have different values."""
        return len(set(self.values)) > 1


class PackOwnScore(Record, frozen=True):
    """A bench pack's own score of a run, as text: its total, and its categories, each as (label, score, weight)."""

    total: str
    summary: str = ""
    categories: list[tuple[str, str, str]] = []


class RunSection(Record, frozen=True):
    """The section of a report on one target of a run. `decision` applies to the whole run.

    `name`: the name that the user gave the run. `note`: the user's note on the run.
    """

    letter: str
    reference: str
    model: str
    task: str
    source: str
    trials: int
    statuses: dict[str, int]
    scores: list[ScoreSummary]
    banners: list[str] = []
    run: str | None = None
    slot: str | None = None
    state: str | None = None
    planned: int | None = None
    repeats: int = 1
    reused: int = 0
    other_roles: dict[str, int] = {}
    requests: RequestSummary | None = None
    by_latency: list[ScoreByLatency] = []
    waterfalls: list[Waterfall] = []
    conversations: list[Conversation] = []
    own_score: PackOwnScore | None = None
    per_trial: ResourcesPerTrial = ResourcesPerTrial()
    name: str = ""
    note: str = ""
    decision: RunDecision | None = None
    figures: list[Figure] = []


class Report(Record, frozen=True):
    """A complete report. `made_at`: UTC, as text.

    `samples`: number of conversations per run that the user requested.
    """

    title: str
    made_at: str
    version: str
    samples: int
    runs: list[RunSection]
    comparison: Comparison
    breakdowns: list[Breakdown] = []
    flips: list[Flips] = []
    distributions: list[DistributionChart] = []
    fronts: list[ParetoFront] = []
    loads: list[DetailedLoad] = []
    facts: list[ConfigurationFact] = []
    banners: list[str] = []
