"""A trace as a task of the engine: each conversation is a trial, with requests at the trace's times."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, cast

import msgspec

from benchwright.app.load.replay.prompts import VERSION, BlockPrompts
from benchwright.app.load.synthetic.model_mix import ModelMix
from benchwright.data.traces.records import Conversation, Trace, TracedRequest
from benchwright.endpoint.lite_llm import LITELLM_BASE_URL
from benchwright.endpoint.reply import Reply
from benchwright.engine.answers import answer_status
from benchwright.engine.precise_waits import wait_until
from benchwright.engine.protocols import ScheduledTurn, Scorer, Session, TimedSession
from benchwright.engine.turns import run_turns
from benchwright.records import Message, Outcome, Sample, TaskSpec, Trial
from benchwright.runs.keys import fingerprint


class ReplaySpeed(NamedTuple):
    """Speed and limits of a replay.

    `speed`: divisor of all times in the trace. `max_think_seconds`: maximum of a think time after that division.
    `max_tokens`: maximum length of a response. None means no limit.
    """

    speed: float = 1.0
    max_think_seconds: float | None = None
    max_tokens: int | None = None

    def think_seconds(self, request: TracedRequest) -> float:
        """Return the think time before a request, in seconds after the response that the request waits for."""
        scaled = request.think_seconds / self.speed
        return scaled if self.max_think_seconds is None else min(scaled, self.max_think_seconds)

    def token_limit(self, request: TracedRequest) -> int | None:
        """Return the maximum number of tokens of the response to a request. None for no limit."""
        limits = [one for one in (request.output_tokens, self.max_tokens) if one is not None]
        return min(limits, default=None)


class RequestMessages(NamedTuple):
    """The messages of a request.

    `messages`: the messages as the journal stores them. `sent_messages`: the messages that are sent; None if they
    are the same.
    """

    messages: list[Message]
    sent_messages: list[Message] | msgspec.Raw | None = None


class ReplayTask:
    """Task that replays the conversations of a trace. `name`: the trace's name; `salt`: the seed of its prompts."""

    def __init__(
        self,
        name: str,
        salt: str,
        trace: Trace,
        prompts: BlockPrompts,
        pace: ReplaySpeed,
        mix: Mapping[str, float],
    ) -> None:
        self._trace = trace
        self._prompts = prompts
        self._pace = pace
        self._models = ModelMix(mix, salt)
        self.spec = TaskSpec(
            name=name, version=VERSION, fingerprint=fingerprint("replay", VERSION, salt, pace, mix)
        )
        self.scorers: Sequence[Scorer] = ()

    def samples(self) -> Iterator[Sample]:
        """Yield the conversations, identified by their index in the trace."""
        for place in range(len(self._trace.conversations)):
            yield Sample(str(place), place)

    def size(self) -> int:
        """Return the number of conversations."""
        return len(self._trace.conversations)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[ReplaySolver]:
        """Yield the solver that replays the conversations."""
        yield ReplaySolver(self._trace, self._prompts, self._pace, self._models)


class ReplaySolver:
    """Solver that replays conversations: it sends their requests at the trace's times.

    Prompts are made one at a time, each before its request is due.
    """

    def __init__(self, trace: Trace, prompts: BlockPrompts, pace: ReplaySpeed, models: ModelMix) -> None:
        self._trace = trace
        self._prompts = prompts
        self._pace = pace
        self._models = models
        self._prepared: dict[int, RequestMessages] = {}
        self._one_at_a_time = asyncio.Lock()

    async def prepare(self, trial: Trial) -> None:
        """Make the first prompt of a conversation."""
        place = trial.sample.content
        self._prepared[place] = await self._sendable(trial, 0)

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Send all requests of a conversation at the trace's times. Return the outcome of the last one."""
        traced, timed = self._trace.conversations[trial.sample.content], cast(TimedSession, session)
        conversation = _Conversation(
            traced, timed, self._pace, self._models.request_fields(trial.sample.content)
        )

        async def turn(number: int) -> bool:
            due = conversation.due(number)
            if number and timed.last_start is not None and due >= timed.last_start:
                await wait_until(timed.last_start)  # a new conversation in its place would be cut off at once
                return False
            sendable = self._prepared.pop(trial.sample.content, None) if number == 0 else None
            if sendable is None:
                sendable = await self._sendable(trial, number)
            await conversation.ask(number, due, sendable)
            return True

        await run_turns([request.previous_request for request in conversation.requests], turn)
        return conversation.outcome()

    async def _sendable(self, trial: Trial, number: int) -> RequestMessages:
        place = trial.sample.content
        request = self._trace.conversations[place].requests[number]
        if request.messages is not None:
            return RequestMessages(request.messages)
        async with self._one_at_a_time:
            text = await self._prompts.make_prompt(request, f"{place}:{number}")
        kept = f"[{self._prompts.count_words(request):,} words, made from the trace and the seed]"
        sent = (
            [{"role": "user", "content": text.decode()}]
            if trial.target.base_url == LITELLM_BASE_URL
            else msgspec.Raw(b'[{"role":"user","content":"%b"}]' % text)
        )
        return RequestMessages([{"role": "user", "content": kept}], sent)


class _Conversation:
    """A conversation that is being replayed."""

    def __init__(
        self, conversation: Conversation, session: TimedSession, pace: ReplaySpeed, fields: dict[str, Any]
    ) -> None:
        self.requests = conversation.requests
        self._session = session
        self._pace = pace
        self._fields = fields
        self._start = session.intended_start
        self._ended: dict[int | None, int] = {None: self._start}
        self._last: tuple[int, list[Message], Reply] | None = None

    def due(self, number: int) -> int:
        """Return when a request is due (`perf_counter_ns`), once the request before it has been answered."""
        request = self.requests[number]
        at = self._start + round(request.earliest_seconds / self._pace.speed * 1e9)
        return max(at, self._ended[request.previous_request] + round(self._pace.think_seconds(request) * 1e9))

    async def ask(self, number: int, due: int, sendable: RequestMessages) -> None:
        """Send a request of the conversation and wait for the response."""
        request, session = self.requests[number], self._session
        turn = ScheduledTurn(number, due, sendable.sent_messages)
        limit = self._pace.token_limit(request)
        more = {**request.fields, **self._fields, **({} if limit is None else {"max_tokens": limit})}
        reply = await session.chat(sendable.messages, turn=turn, **more)
        self._ended[number] = session.actual_start + reply.record.started + reply.record.total
        if self._last is None or number > self._last[0]:
            self._last = number, sendable.messages, reply

    def outcome(self) -> Outcome:
        """Return the outcome of the conversation's last request."""
        if self._last is None:
            return Outcome()
        _, messages, reply = self._last
        status, reason = answer_status(reply)
        return Outcome(status, [*messages, reply.message], reply.text, reason)
