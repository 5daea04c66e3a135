"""The core data types: frozen structs that all other modules exchange and the journal stores.

Times are integer nanoseconds. Within a trial they count from its start. The start itself, `started_at`, is
wall-clock time (nanoseconds since the Unix epoch). Fields with their default value are left out of the JSON,
and unknown fields are ignored when reading, so that older and newer journals stay readable.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import msgspec

MAX_COUNT = 2**53
"""Upper bound of counts and durations (104 days in ns). A file with a larger number is broken."""

Amount = Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]
"""A count, or a duration in ns."""

Offset = Annotated[int, msgspec.Meta(ge=-MAX_COUNT, le=MAX_COUNT)]
"""A signed time difference in ns."""

Moment = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
"""Wall-clock time in ns, until the year 2116."""

Bucket = Annotated[int, msgspec.Meta(ge=0, lt=1024)]
"""Index of a bucket in a histogram of durations; see `stats.histogram`."""

DECODE_ERRORS = (msgspec.DecodeError, UnicodeError, RecursionError)
"""Errors of reading JSON: invalid syntax or shape, not UTF-8, or nested too deeply."""

Message = dict[str, Any]
"""One chat message in the OpenAI format, as it is sent in requests."""

SIDE_ROLE = "side"
"""Role of an agent's side requests: those besides its turns, such as for a title or a summary."""

PAID_ROLES = ("model", SIDE_ROLE)
"""Roles of requests that count towards the cost of the model's trial. Judges and simulated users do not."""


class Status(StrEnum):
    """How a trial, or one of its scores, ended.

    `answered` is the state of a trial between its answer and its first score. `runs.counting.trial_status`
    combines it with the statuses of the scores. `cut_off_in_thinking` means no answer at all, `truncated` a
    partial one.
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
"""Trial statuses without an answer to score."""

RETRIED_ON_RESUME = frozenset({Status.PROVIDER_ERROR, Status.CANCELLED})
"""Trial statuses that do not count as finished when an unfinished run is resumed."""


class Record(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Base class of the frozen structs in this project, with their common settings."""


class Sample(Record, frozen=True):
    """One item to solve: a dataset row, a benchmark question or a pack scenario.

    `content` is passed to the solver and scorers, and determines the keys. `occurrence` distinguishes samples
    with equal content. `group` is the cluster for the statistics (passage, repository, subject). For display
    only, not part of any key: `input`, the sample's own question, without the part that all prompts share,
    and `target`, the expected answer. `row` is the index in the dataset, from 0; None if the id is that
    index.
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

    `settings`: body fields of every request. `headers`: its headers (names in lower case), never a secret
    one.
    """

    slot: str
    model: str
    base_url: str
    settings: dict[str, Any] = {}
    headers: dict[str, str] = {}


class Trial(Record, frozen=True):
    """One repeat of one sample against one target.

    `wave` is a barrier: all trials of a wave end before the next wave starts. `due_ns`: intended start under
    open-loop load, in ns from the run's start. `attempt`: number of earlier attempts at this trial.
    """

    key: str
    sample: Sample
    target: Target
    repeat: int = 0
    wave: int = 0
    due_ns: int | None = None
    attempt: int = 0


class TrialLimits(Record, frozen=True):
    """Limits of one trial: turns (requests of the role `model`), tokens (of all its requests), seconds."""

    turns: int | None = None
    tokens: int | None = None
    seconds: float | None = None


class TaskSpec(Record, frozen=True):
    """Description of a task as plain data. `fingerprint` covers everything that influences a conversation."""

    name: str
    version: str
    fingerprint: str
    group_by: str | None = None


class Usage(Record, frozen=True):
    """Token counts as the server reported them; None if it did not.

    `estimated_reasoning_tokens`: our estimate by the share of the text, if the server sent reasoning without
    a count.
    """

    prompt_tokens: Amount | None = None
    completion_tokens: Amount | None = None
    cached_tokens: Amount | None = None
    reasoning_tokens: Amount | None = None
    estimated_reasoning_tokens: Amount | None = None

    @property
    def total_tokens(self) -> int:
        """Sum of prompt and completion tokens; unknown counts as 0."""
        return (self.prompt_tokens or 0) + (self.completion_tokens or 0)


NO_USAGE = Usage()

SIMULATED_FLAG = "simulated"
"""Flag of requests that the simulated endpoint answered.

All results based on them are marked as simulated.
"""


SINGLE_BURST_NS = 1_000_000
SINGLE_BURST_SHARE = 0.005
"""A response came at once if all pieces came within 1 ms, or this share of the time to the first."""


class RequestRecord(Record, frozen=True):
    """One request to an endpoint and its timings (in ns).

    `started`: time at which the bytes were passed to the socket, from the trial's start. From there count
    `ttft`, to the first token on any channel, `ttfa`, to the first byte of the answer after any reasoning,
    and `total`, to the end of the response. `waited`: time before, for backing off after failed attempts and
    for rate limits. `attempts`: number of times that the request was sent, and so may have reached the
    server. `connect`: time to open a new connection (0 if one was reused). `dispatch_lag`: time from the
    decision to send until the bytes left this process, without waiting and connecting. `detect_lag`: time
    that the first bytes waited unread in the socket, as far as it is known. `gaps`: histogram of the times
    between tokens, {bucket: count}, see `stats.histogram`. `seed`: the seed sent, None without one.

    `due`: intended start of a request that has its own (from the trial's start); the others of a trial follow
    from its course. `dialect`: API in which a program sent the request: chat, messages, responses or gemini.
    `last_token`: time to the last token. `later_tokens`: number of tokens after the first piece of the
    stream. Both are None without streaming. `resent`: number of times that the request was sent on kept-alive
    connections that the server then closed; `lost`: the time this took, a part of `waited`. `settings`:
    sampling settings with which a program's request was sent, including the program's own, under their names
    in chat completions. None for all other requests.
    """

    id: str
    role: str = "model"
    slot: str = "primary"
    turn: Amount = 0
    started: Offset = 0
    connect: Amount = 0
    waited: Amount = 0
    dispatch_lag: Offset = 0
    detect_lag: Offset = 0
    ttft: Amount | None = None
    ttfa: Amount | None = None
    total: Amount = 0
    gaps: dict[Bucket, Amount] = {}
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
    due: Offset | None = None
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
        """Time to the first token on any channel, in seconds; None without streaming."""
        return None if self.ttft is None else self.ttft / 1e9

    @property
    def ttfa_seconds(self) -> float | None:
        """Time to the first byte of the answer (not the reasoning), in seconds; None without streaming."""
        return None if self.ttfa is None else self.ttfa / 1e9

    @property
    def total_latency_seconds(self) -> float:
        """Time from dispatch to the end of the response, in seconds."""
        return self.total / 1e9

    @property
    def prefill_time_seconds(self) -> float | None:
        """Time to the first token in seconds, as `ttft_seconds`; None without streaming."""
        return self.ttft_seconds

    @property
    def decode_time_seconds(self) -> float | None:
        """Time from the first token to the end of the response, in seconds; None without streaming."""
        return None if self.ttft is None else (self.total - self.ttft) / 1e9

    @property
    def streaming_duration(self) -> int | None:
        """Time from the first token to the last in ns; None unless the pieces arrived one after another.

        A response that is sent whole, or that a proxy forwards only when complete, shows the transfer time,
        not the speed of generation. Journals of earlier versions lack the last token: the end of the response
        is used.
        """
        if self.ttft is None or self.chunks == 1:
            return None
        lasted = (self.total if self.last_token is None else self.last_token) - self.ttft
        return lasted if lasted >= max(SINGLE_BURST_NS, SINGLE_BURST_SHARE * self.ttft) else None

    @property
    def is_single_burst(self) -> bool:
        """True if a streamed response of several tokens arrived in one piece, or almost."""
        several = (self.usage.completion_tokens or self.chunks) > 1
        return several and self.ttft is not None and self.streaming_duration is None

    @property
    def tokens_after_first(self) -> int:
        """Number of tokens after the first piece. For journals of earlier versions: all tokens but one."""
        if self.later_tokens is not None and self.last_token is not None:
            return self.later_tokens
        return (self.usage.completion_tokens or self.chunks) - 1

    @property
    def tokens_per_second_generation(self) -> float | None:
        """Tokens after the first piece per second; None unless the pieces arrived one after another.

        If each piece holds one token and all counted reasoning is sent, they are completion_tokens - 1.
        """
        lasted, tokens = self.streaming_duration, self.tokens_after_first
        counted = self.usage.completion_tokens is not None
        return tokens * 1e9 / lasted if lasted and counted and tokens > 0 else None

    @property
    def tokens_per_second_prompt(self) -> float | None:
        """prompt_tokens / time to first token; None without usage data, or if the response came at once."""
        tokens = self.usage.prompt_tokens
        return tokens * 1e9 / self.ttft if tokens and self.ttft and not self.is_single_burst else None


class Outcome(Record, frozen=True):
    """Result of solving a trial.

    `answer`: the text to score, without reasoning. `reason`: explains every status other than `answered`.
    `scores`: only if the solver itself scores. `native`: a pack's own result, verbatim. `requests`: requests
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
    """The journal's compact line for one attempt at a trial. Its body is stored in bodies.jsonl at `body`.

    `late`: delay of the start after the intended one (`Trial.due_ns`), 0 if there was none. A user who
    arrives at the intended start waits `late + request.started + request.total` for a response.
    `restored_tokens`: set if only the trial's result was kept, in a cache file: the total tokens of its
    requests. The requests themselves, the body and the start are then unknown. `row`: the sample's row.
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
    started_at: Moment = 0
    duration: Amount = 0
    body: tuple[Amount, Amount] = (0, 0)
    reused_from: str | None = None
    late: Amount = 0
    restored_tokens: Amount | None = None
    row: Amount | None = None
    notes: list[str] = []

    @property
    def row_index(self) -> int:
        """Index of the sample in the dataset, from 0. Raises ValueError if it is not a dataset row."""
        return int(self.sample) if self.row is None else self.row

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens of the model's own requests, including its agent's side requests."""
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
    at: Moment
    detail: dict[str, Any] = {}


JournalLine = TrialRecord | ScoreRecord | RunEvent
"""Any line of trials.jsonl. The field `type` distinguishes the kinds."""
