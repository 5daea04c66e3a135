"""The core data types: frozen structs that all other modules exchange and the journal stores.

Times are integer nanoseconds. Times within a trial count from the trial's start. The start itself, `started_at`, is
wall-clock time (nanoseconds since the Unix epoch). Fields with their default value are left out of the JSON, and
unknown fields are ignored when reading, so that older and newer journals stay readable.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import msgspec

MAX_COUNT = 2**53
"""Maximum of counts and durations (104 days in ns). A file with a larger number is invalid."""

Amount = Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]
"""Type: a count, or a duration in ns."""

TimeOffsetNs = Annotated[int, msgspec.Meta(ge=-MAX_COUNT, le=MAX_COUNT)]
"""Type: a time difference in ns, which may be negative."""

WallClockNs = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
"""Type: wall-clock time in ns, until the year 2116."""

HistogramBucket = Annotated[int, msgspec.Meta(ge=0, lt=1024)]
"""Type: index of a bucket in a histogram of durations; see `stats.histogram`."""

DECODE_ERRORS = (msgspec.DecodeError, UnicodeError, RecursionError)
"""Errors that reading JSON can raise: invalid syntax, a wrong shape, not UTF-8, or nested too deeply."""

Message = dict[str, Any]
"""Type: one chat message in the OpenAI format, as it is sent in requests."""

SIDE_ROLE = "side"
"""Role of an agent's side requests. They ask for a title or a summary, for example, and are not turns."""

PAID_ROLES = ("model", SIDE_ROLE)
"""Roles of the requests that make up the cost of a model's trial. Judges and simulated users are left out."""


class Status(StrEnum):
    """How a trial, or one of its scores, ended.

    `answered` is the state of a trial between its answer and its first score. `counting_rules.combine_statuses`
    combines the trial's status with the statuses of its scores. `cut_off_in_thinking` means that there is no
    answer at all, and `truncated` that there is a partial answer.
    """

    ANSWERED = "answered"
    SCORED = "scored"
    UNPARSED = "unparsed"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    CUT_OFF_IN_THINKING = "cut_off_in_thinking"
    LIMIT = "limit"
    PROVIDER_ERROR = "provider_error"
    EXECUTION_ERROR = "execution_error"
    GRADER_ERROR = "grader_error"
    CANCELLED = "cancelled"


FAILED_STATUSES = frozenset({Status.PROVIDER_ERROR, Status.EXECUTION_ERROR, Status.CANCELLED})
"""Statuses of trials that ended without an answer to score."""

STATUSES_RETRIED_ON_RESUME = frozenset({Status.PROVIDER_ERROR, Status.CANCELLED})
"""Statuses of trials that are run again when an unfinished run is resumed."""


class Record(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Base class of Benchwright's frozen structs. It holds the settings that all of them share."""


class Sample(Record, frozen=True):
    """One item to solve: a dataset row, a benchmark question or a pack scenario.

    `content`: the data for the solver and scorers, from which trial keys are computed. `occurrence`: distinguishes
    samples with equal content. `group`: the cluster for the statistics (passage, repository, subject). `row`: the index
    in the dataset, from 0; None if the id is that index. For display only, and not part of any key: `input`, the
    sample's own question, without the text that all prompts share, and `target`, the expected answer.
    """

    id: str
    content: Any
    occurrence: int = 0
    group: str | None = None
    labels: dict[str, str] = {}
    input: str | None = None
    target: str | None = None
    row: int | None = None

    @property
    def row_index(self) -> int:
        """Index of the sample in the dataset, from 0. Raises ValueError if the sample is not a dataset row."""
        return int(self.id) if self.row is None else self.row


class Target(Record, frozen=True):
    """A model at an endpoint, under a slot (its key within the run: `primary`, `baseline`, `judge`, ...).

    `settings`: body fields of every request. `headers`: headers of every request, with names in lower case; secret
    headers are never among them.
    """

    slot: str
    model: str
    base_url: str
    settings: dict[str, Any] = {}
    headers: dict[str, str] = {}


class Trial(Record, frozen=True):
    """One repeat of one sample against one target.

    `wave`: number of the trial's wave; all trials of a wave end before the next wave starts. `due_ns`: intended
    start under open-loop load, in ns from the run's start. `attempt`: number of earlier attempts at this trial.
    """

    key: str
    sample: Sample
    target: Target
    repeat: int = 0
    wave: int = 0
    due_ns: int | None = None
    attempt: int = 0


class TrialLimits(Record, frozen=True):
    """Limits of one trial: turns (requests of the role `model`), tokens (of all the trial's requests), and seconds."""

    turns: int | None = None
    tokens: int | None = None
    seconds: float | None = None


class TaskSpec(Record, frozen=True):
    """Description of a task as plain data. `fingerprint`: digest of everything that influences a conversation."""

    name: str
    version: str
    fingerprint: str
    group_by: str | None = None


class Usage(Record, frozen=True):
    """Token counts as the server reported them. A count is None if the server did not report it.

    `estimated_reasoning_tokens`: our estimate of the reasoning tokens from the reasoning's share of the text, if
    the server sent reasoning without a count.
    """

    prompt_tokens: Amount | None = None
    completion_tokens: Amount | None = None
    cached_tokens: Amount | None = None
    reasoning_tokens: Amount | None = None
    estimated_reasoning_tokens: Amount | None = None

    @property
    def total_tokens(self) -> int:
        """Sum of prompt and completion tokens. An unknown count is taken as 0."""
        return (self.prompt_tokens or 0) + (self.completion_tokens or 0)


NO_USAGE = Usage()

SIMULATED_FLAG = "simulated"
"""Flag of requests that the simulated endpoint answered.

All results based on such requests are marked as simulated.
"""


SINGLE_BURST_NS = 1_000_000
SINGLE_BURST_SHARE = 0.005
"""A response came in one burst if its pieces came within `SINGLE_BURST_NS`, or within `SINGLE_BURST_SHARE` of its TTFT.
"""


class RequestRecord(Record, frozen=True):
    """One request to an endpoint, and its timings (in ns).

    `started`: time at which the bytes were passed to the socket, from the trial's start. `ttft`: time from `started` to
    the first token on any channel. `ttfa`: time from `started` to the first byte of the answer, after any reasoning.
    `total`: time from `started` to the end of the response. `waited`: time before `started`, for backing off after
    failed attempts and for rate limits. `attempts`: number of times that the request was sent, and so may have reached
    the server. `connect`: time to open a new connection (0 if one was reused). `dispatch_lag`: time from the decision
    to send until the bytes left this process, without waiting and connecting. `detect_lag`: time for which the first
    bytes waited unread in the socket, as far as it is known. `gaps`: histogram of the times between tokens, {bucket:
    count}, see `stats.histogram`. `seed`: the seed sent, None without one.

    `due`: intended start of the request, from the trial's start; None if it follows from the trial's course. `dialect`:
    API in which a program sent the request: chat, messages, responses or gemini. `last_token`: time to the last token,
    None without streaming. `later_tokens`: number of tokens after the first piece of the stream, None without
    streaming. `resent`: number of times that the request was sent on kept-alive connections that the server then
    closed. `lost`: time for these attempts, a part of `waited`. `settings`: sampling settings with which a program's
    request was sent, including the program's own, under their names in chat completions; None for all other requests.
    """

    id: str
    role: str = "model"
    slot: str = "primary"
    turn: Amount = 0
    started: TimeOffsetNs = 0
    connect: Amount = 0
    waited: Amount = 0
    dispatch_lag: TimeOffsetNs = 0
    detect_lag: TimeOffsetNs = 0
    ttft: Amount | None = None
    ttfa: Amount | None = None
    total: Amount = 0
    gaps: dict[HistogramBucket, Amount] = {}
    chunks: Amount = 0
    usage: Usage = NO_USAGE
    finish_reason: str | None = None
    http_status: Amount | None = None
    attempts: Amount = 1
    error: str | None = None
    flags: list[str] = []
    seed: int | None = None
    last_token: Amount | None = None
    later_tokens: Amount | None = None
    due: TimeOffsetNs | None = None
    dialect: str = "chat"
    resent: Amount = 0
    lost: Amount = 0
    settings: dict[str, int | float | str] | None = None

    @property
    def request_id(self) -> str:
        """The request's id, under the name of the documented Python API."""
        return self.id

    @property
    def prompt_tokens(self) -> int:
        """Number of prompt tokens from the usage data, 0 if unknown."""
        return self.usage.prompt_tokens or 0

    @property
    def completion_tokens(self) -> int:
        """Number of generated tokens from the usage data, 0 if unknown."""
        return self.usage.completion_tokens or 0

    @property
    def ttft_seconds(self) -> float | None:
        """Time to the first token on any channel, in seconds. None without streaming."""
        return None if self.ttft is None else self.ttft / 1e9

    @property
    def ttfa_seconds(self) -> float | None:
        """Time to the first byte of the answer (not of the reasoning), in seconds. None without streaming."""
        return None if self.ttfa is None else self.ttfa / 1e9

    @property
    def total_latency_seconds(self) -> float:
        """Time from dispatch to the end of the response, in seconds."""
        return self.total / 1e9

    @property
    def prefill_time_seconds(self) -> float | None:
        """Time to the first token in seconds, the same as `ttft_seconds`. None without streaming."""
        return self.ttft_seconds

    @property
    def decode_time_seconds(self) -> float | None:
        """Time from the first token to the end of the response, in seconds. None without streaming."""
        return None if self.ttft is None else (self.total - self.ttft) / 1e9

    @property
    def streaming_duration(self) -> int | None:
        """Time from the first token to the last token, in ns. None if the pieces did not arrive one after another.

        If a response is sent whole, or if a proxy forwards it only when it is complete, that time is the transfer
        time, not the time of generation. Journals of earlier versions lack the time of the last token. For these,
        the end of the response is used.
        """
        if self.ttft is None or self.chunks == 1:
            return None
        lasted = (self.total if self.last_token is None else self.last_token) - self.ttft
        return lasted if lasted >= max(SINGLE_BURST_NS, SINGLE_BURST_SHARE * self.ttft) else None

    @property
    def is_single_burst(self) -> bool:
        """True if a streamed response of several tokens came in one burst; see `SINGLE_BURST_SHARE`."""
        several = (self.usage.completion_tokens or self.chunks) > 1
        return several and self.ttft is not None and self.streaming_duration is None

    @property
    def tokens_after_first(self) -> int:
        """Number of tokens after the first piece. For older journals, which lack it: all tokens but one."""
        if self.later_tokens is not None and self.last_token is not None:
            return self.later_tokens
        return (self.usage.completion_tokens or self.chunks) - 1

    @property
    def tokens_per_second_generation(self) -> float | None:
        """Number of tokens after the first piece, per second. None if the pieces did not arrive one after another.

        If each piece holds one token and all counted reasoning is sent, the number of these tokens is completion_tokens
        - 1.
        """
        lasted, tokens = self.streaming_duration, self.tokens_after_first
        counted = self.usage.completion_tokens is not None
        return tokens * 1e9 / lasted if lasted and counted and tokens > 0 else None

    @property
    def tokens_per_second_prompt(self) -> float | None:
        """prompt_tokens / time to first token. None without usage data, or if the response came in one burst."""
        tokens = self.usage.prompt_tokens
        return tokens * 1e9 / self.ttft if tokens and self.ttft and not self.is_single_burst else None


class Outcome(Record, frozen=True):
    """Result of solving a trial.

    `answer`: the text to score, without reasoning. `reason`: explanation of every status other than `answered`.
    `scores`: only set if the solver itself scores. `native`: a pack's own result, verbatim. `requests`: requests
    that another program made earlier for this trial. `notes`: sentences for readers of the trial.
    """

    status: Status = Status.ANSWERED
    messages: list[Message] = []
    answer: str = ""
    reason: str | None = None
    scores: dict[str, float] = {}
    artifacts: dict[str, Any] = {}
    native: Any = None
    requests: list[RequestRecord] = []
    notes: list[str] = []


class TrialRecord(Record, frozen=True, tag="trial"):
    """The journal's compact line for one attempt at a trial. The attempt's body is stored in bodies.jsonl at `body`.

    `late`: delay of the start after the intended start (`Trial.due_ns`), 0 if there was no delay. A user who arrives at
    the intended start waits `late + request.started + request.total` for a response. `restored_tokens`: total tokens of
    the trial's requests; set if only the trial's result was kept, in a cache file. The requests, the body and the start
    are then unknown. `row`: the sample's row.
    """

    key: str
    sample: str
    target: str
    status: Status
    repeat: Amount = 0
    attempt: Amount = 0
    group: str | None = None
    labels: dict[str, str] = {}
    reason: str | None = None
    scores: dict[str, float] = {}
    requests: list[RequestRecord] = []
    started_at: WallClockNs = 0
    duration: Amount = 0
    body: tuple[Amount, Amount] = (0, 0)
    reused_from: str | None = None
    late: Amount = 0
    restored_tokens: Amount | None = None
    row: Amount | None = None
    notes: list[str] = []

    @property
    def row_index(self) -> int:
        """Index of the sample in the dataset, from 0. Raises ValueError if the sample is not a dataset row."""
        return int(self.sample) if self.row is None else self.row

    @property
    def tokens(self) -> int:
        """Number of prompt and completion tokens of the model's own requests, including its agent's side requests."""
        own = sum(request.usage.total_tokens for request in self.requests if request.role in PAID_ROLES)
        return own + (self.restored_tokens or 0)


class ScoreRecord(Record, frozen=True, tag="score"):
    """One named score of one trial.

    `span`: the text that was extracted as the answer. `explanation`: the reason for the score.
    """

    key: str
    trial: str
    scorer: str
    value: float | None = None
    status: Status = Status.SCORED
    span: str | None = None
    detail: Mapping[str, Any] | None = None
    requests: list[RequestRecord] = []
    explanation: str | None = None


class RunEvent(Record, frozen=True, tag="event"):
    """An event in the life of a run, such as started, stopped or finished. `at`: wall-clock time in ns."""

    name: str
    at: WallClockNs
    detail: dict[str, Any] = {}


JournalLine = TrialRecord | ScoreRecord | RunEvent
"""Type: any line of trials.jsonl. The field `type` distinguishes the three kinds of lines."""
