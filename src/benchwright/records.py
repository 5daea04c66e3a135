"""The core types: plain, frozen structs that everything else passes around and the journal stores.

Times are integer nanoseconds. Within a trial they count from the trial's start; the start itself is one wall-clock
anchor, `started_at` (nanoseconds since the Unix epoch). Fields at their default are left out of the JSON, and unknown
fields are ignored when reading, so that older and newer journals stay readable.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import msgspec

MOST = 2**53
"""No count of ours is larger, no duration longer (104 days): a file that says so is broken."""

Amount = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
"""A count, or a duration."""

Offset = Annotated[int, msgspec.Meta(ge=-MOST, le=MOST)]
"""A time before or after another one."""

Moment = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
"""Wall-clock ns, until the year 2116."""

Bucket = Annotated[int, msgspec.Meta(ge=0, lt=1024)]
"""Of a histogram of durations."""

UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)
"""What reading JSON raises: it is none, of another shape, not in UTF-8, or nested too deep."""

Message = dict[str, Any]
"""One chat message in the OpenAI format, as it goes on the wire."""

SIDE = "side"
"""Role of a request by which an agent asks for something else than its next step: a title, a summary."""

PAID_ROLES = ("model", SIDE)
"""Roles of the requests that a model's trial costs; those of judges and simulated users are not its own."""


class Status(StrEnum):
    """How a trial, or one of its scores, ended.

    `answered` is the state of a trial between its answer and its first score; a trial's status proper is given by
    `runs.counting.trial_status`, which folds those of its scores in. `cut_off_in_thinking` has no answer, `truncated` a
    part of one.
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


FAILED = frozenset({Status.PROVIDER_ERROR, Status.EXECUTION_ERROR, Status.CANCELLED})
"""Statuses of a trial that has no answer to score."""

ASKED_AGAIN = frozenset({Status.PROVIDER_ERROR, Status.CANCELLED})
"""Statuses that do not count as finished when an unfinished run goes on."""


class Record(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Base of the structs below; nothing but the settings they share."""


class Sample(Record, frozen=True):
    """One piece of work: a dataset row, a benchmark sample, a pack scenario.

    `content` is what the solver and the scorers get, and what the keys are made of; `occurrence` tells equal contents
    apart; `group` is the cluster for the statistics (passage, repository, subject).

    `input` is the sample's own question as a person reads it, without what all prompts have in common, `target` the
    answer that is expected; both are only shown, and are not part of any key. `row` is its place in a dataset, from 0,
    where its id is not just that.
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
        """Its place in the dataset; ValueError where it is of none."""
        return int(self.id) if self.row is None else self.row


class Target(Record, frozen=True):
    """A model at an endpoint, under a slot name (`primary`, `baseline`, `judge`, ...).

    `settings` are body fields of every request, `headers` its headers (in lower case). Never a secret.
    """

    slot: str
    model: str
    base_url: str
    settings: dict[str, Any] = {}
    headers: dict[str, str] = {}


class Trial(Record, frozen=True):
    """One repeat of one sample against one target.

    `wave` orders and bars: all trials of a wave end before the next wave starts. `due_ns` is the intended start for
    open-loop load, counted from the run's start. `attempt` counts earlier tries of this trial.
    """

    key: str
    sample: Sample
    target: Target
    repeat: int = 0
    wave: int = 0
    due_ns: int | None = None
    attempt: int = 0


class TrialLimits(Record, frozen=True):
    """What one trial may use: turns (requests of the role `model`), tokens (all its requests), seconds."""

    turns: int | None = None
    tokens: int | None = None
    seconds: float | None = None


class TaskSpec(Record, frozen=True):
    """What a task is, as plain data. `fingerprint` covers everything that shapes a conversation."""

    name: str
    version: str
    fingerprint: str
    group_by: str | None = None


class Usage(Record, frozen=True):
    """Tokens as the server counted them; None where it said nothing. `estimated_reasoning_tokens` is ours: where the
    server sent reasoning and did not count it, its share of the text.
    """

    prompt_tokens: Amount | None = None
    completion_tokens: Amount | None = None
    cached_tokens: Amount | None = None
    reasoning_tokens: Amount | None = None
    estimated_reasoning_tokens: Amount | None = None

    @property
    def total_tokens(self) -> int:
        """Prompt and completion tokens together, unknown counted as 0."""
        return (self.prompt_tokens or 0) + (self.completion_tokens or 0)


NO_USAGE = Usage()

SIMULATED = "simulated"
"""Flag of a request that the simulated endpoint answered; every result from it says so."""


AT_ONCE_NS = 1_000_000
AT_ONCE_SHARE = 0.005
"""An answer whose pieces came within 1 ms, or within this share of the time to the first, came at once."""


class RequestRecord(Record, frozen=True):
    """One call to an endpoint and its timings.

    `started` is the moment the bytes were handed to the socket (ns from the trial's start); `ttft` the time from there
    to the first token on any channel, `ttfa` to the first byte of the answer proper, `total` to the end of the answer.
    `waited` is what came before: backing off after failed attempts, and rate limits. `attempts` counts how often it was
    sent, which is how often the server may have seen it. `connect` is the time to open a new connection (0 when one was
    reused). `dispatch_lag` is the time from the decision to send until the bytes left us, waiting and connecting not
    counted; `detect_lag` is how long the first bytes lay in the socket unnoticed, as far as can be told. `gaps` is a
    histogram of the times between tokens, {bucket: count}, see `stats.histogram`. `seed` is the one that was sent, None
    where there was none.

    `due` is the intended start of a request that had one of its own (ns from the trial's start; the others of a trial
    follow from what it does). `dialect` is how a program asked: chat, messages, responses or gemini.
    `last_token` is the time to the last token, and `later_tokens` how many tokens came after the first piece of the
    stream; both are None without streaming. `resent` is how often it had been sent on kept-alive connections that the
    server closed upon it, and `lost` the time that this took, which is a part of `waited`. `settings` are the sampling
    settings that the request of a program was sent with, its own included, as chat completions call them; None for
    all other requests.
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
        """The id under its documented name."""
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
        """Time to the first token on any channel; None without streaming."""
        return None if self.ttft is None else self.ttft / 1e9

    @property
    def ttfa_seconds(self) -> float | None:
        """Time to the first byte of the answer (not of the reasoning); None without streaming."""
        return None if self.ttfa is None else self.ttfa / 1e9

    @property
    def total_latency_seconds(self) -> float:
        """Time from dispatch to the end of the answer."""
        return self.total / 1e9

    @property
    def prefill_time_seconds(self) -> float | None:
        """The same as `ttft_seconds`."""
        return self.ttft_seconds

    @property
    def decode_time_seconds(self) -> float | None:
        """From the first token to the end of the answer; None without streaming."""
        return None if self.ttft is None else (self.total - self.ttft) / 1e9

    @property
    def streaming(self) -> int | None:
        """The ns from the first token to the last; None unless pieces were seen to come one after the other.

        A server that sends an answer whole, and a proxy that passes it on when it has all of it, show how long the
        transfer took, not how fast tokens came. Journals of earlier versions do not tell the last token: it is the end.
        """
        if self.ttft is None or self.chunks == 1:
            return None
        lasted = (self.total if self.last_token is None else self.last_token) - self.ttft
        return lasted if lasted >= max(AT_ONCE_NS, AT_ONCE_SHARE * self.ttft) else None

    @property
    def came_at_once(self) -> bool:
        """Whether a streamed answer of several tokens came in one piece, or as good as that."""
        several = (self.usage.completion_tokens or self.chunks) > 1
        return several and self.ttft is not None and self.streaming is None

    @property
    def tokens_after_first(self) -> int:
        """How many tokens came after the first piece; in journals of earlier versions, all but one."""
        if self.later_tokens is not None and self.last_token is not None:
            return self.later_tokens
        return (self.usage.completion_tokens or self.chunks) - 1

    @property
    def tokens_per_second_generation(self) -> float | None:
        """Tokens after the first piece over the time in which they came; None unless pieces were seen to come.

        Where each piece holds a token, and all reasoning that is counted is sent, these are completion_tokens - 1.
        """
        lasted, tokens = self.streaming, self.tokens_after_first
        counted = self.usage.completion_tokens is not None
        return tokens * 1e9 / lasted if lasted and counted and tokens > 0 else None

    @property
    def tokens_per_second_prompt(self) -> float | None:
        """prompt_tokens / time to first token; None without usage data, or if the answer came at once."""
        tokens = self.usage.prompt_tokens
        return tokens * 1e9 / self.ttft if tokens and self.ttft and not self.came_at_once else None


class Outcome(Record, frozen=True):
    """What a solver made of a trial.

    `answer` is the text to score (reasoning split off); `reason` explains every status but `answered`; `scores` are
    there where the solver itself scores; `native` is a pack's own result, verbatim. `requests` are those that another
    program made for it before. `notes` are sentences for whoever reads the trial.
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
    """The journal's light line of one attempt at a trial; its body lies in bodies.jsonl at `body`.

    `late` is by how much it was begun after its intended start (`Trial.due_ns`), 0 where it had none. What a user who
    came at the intended start waits for a request is `late + request.started + request.total`.

    `restored_tokens` is there where only the trial's result was kept, in a cache file: the tokens of its requests,
    which are not known, just as its body and when it was begun. `row` is that of the sample.
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
        """The place of its sample in the dataset; ValueError where it is of none."""
        return int(self.sample) if self.row is None else self.row

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens of the model's own requests, side requests of its agent included."""
        own = sum(request.usage.total_tokens for request in self.requests if request.role in PAID_ROLES)
        return own + (self.restored_tokens or 0)


class ScoreRecord(Record, frozen=True, tag="score"):
    """One named score of one trial.

    `span` is the part of the answer that was taken as the answer, `explanation` why it scored so.
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
    """Something that happened to the run: started, stopped, finished; `at` is wall-clock ns."""

    name: str
    at: Moment
    detail: dict[str, Any] = {}


JournalLine = TrialRecord | ScoreRecord | RunEvent
"""Everything that trials.jsonl can hold: one of these per line, told apart by the field `type`."""
