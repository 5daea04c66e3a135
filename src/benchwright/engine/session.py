"""The session through which a solver or scorer acts. It meters every call and enforces the trial's limits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from time import perf_counter_ns
from typing import Any

import msgspec

from benchwright.clock import wall_ns
from benchwright.endpoint.calls_in_text import offered_tool_names
from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.flags import LEFT_OUT_PREFIX
from benchwright.endpoint.providers import ModelClient
from benchwright.endpoint.rate_limits import RateLimitWaits
from benchwright.endpoint.relay import Relay, RelayedRequest, RequestFacts
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.request import RequestPurpose
from benchwright.engine.agent_requests import AgentAccess, RelayedTurns, read_relayed_request
from benchwright.engine.precise_waits import wait_until
from benchwright.engine.protocols import ScheduledTurn
from benchwright.engine.seeds import storable_seed, with_repeat_seed
from benchwright.errors import LimitReached, UserError
from benchwright.records import SIDE_ROLE, Message, Outcome, RequestRecord, Target, Trial, TrialLimits
from benchwright.runs.journal import ExchangeBody

EncodedRequest = tuple[dict[str, Any], list[Message], bytes]


class TrialSession:
    """The session of one trial, or of a scorer that scores the trial; see `engine.protocols.Session`.

    A trial with an intended start begins when its first request leaves, at the intended start or later.
    Everything before that request is preparation. `unanswered`: the messages of the last request while that
    request has no response.
    """

    def __init__(
        self,
        trial: Trial,
        clients: Mapping[str, ModelClient],
        limits: TrialLimits,
        show: Callable[[str, str], None] | None = None,
        role: str = "model",
        due: int | None = None,
        last_start: int | None = None,
    ) -> None:
        """Create a session.

        `due`: the intended start (`perf_counter_ns`), or None. `last_start`: see `TimedSession`.
        """
        self.trial = trial
        self.last_start = last_start
        self.started_at = wall_ns()
        self.actual_start = perf_counter_ns()
        self._due = due
        self._begun = due is None
        self.requests: list[RequestRecord] = []
        self._clients = clients
        self._limits = limits
        self._show = show
        self._role = role
        self._turns = 0
        self._tokens = 0
        self._asked: list[EncodedRequest] = []
        self._waits = RateLimitWaits()
        self.unanswered: list[Message] = []

    @property
    def intended_start(self) -> int:
        """The trial's intended start (`perf_counter_ns`). If it has none, its actual start."""
        return self.actual_start if self._due is None else self._due

    @property
    def lateness(self) -> int:
        """Time in ns from the trial's intended start to its actual start."""
        return max(0, self.actual_start - self.intended_start)

    @property
    def target(self) -> Target:
        """The target of the trial."""
        return self.trial.target

    async def chat(
        self,
        messages: Sequence[Message],
        *,
        role: str | None = None,
        slot: str | None = None,
        turn: ScheduledTurn | None = None,
        **params: Any,
    ) -> Reply:
        """Send a request to /chat/completions; see `engine.protocols.Session.chat`."""
        params["messages"] = sent = list(messages)
        return await self._ask("/chat/completions", params, sent, role or self._role, slot, turn)

    async def complete(
        self, prompt: str, *, role: str | None = None, slot: str | None = None, **params: Any
    ) -> Reply:
        """Send a request to /completions; see `engine.protocols.Session.complete`."""
        params["prompt"] = prompt
        return await self._ask("/completions", params, [], role or self._role, slot)

    async def embed(self, texts: Sequence[str], *, slot: str) -> list[list[float]]:
        """Return the embedding vectors of texts; see `engine.protocols.EmbeddingSession.embed`."""
        client = self._client(slot)
        if not isinstance(client, EndpointClient):
            raise UserError(
                f"The model {client.target.model!r} is reached through LiteLLM, which is not asked for embeddings: "
                f"give the address of an OpenAI-compatible endpoint with --option {slot}_base_url."
            )
        return await client.embed(texts)

    async def count_tokens(self, text: str) -> int | None:
        """Return the number of tokens of a text; see `engine.protocols.Session.count_tokens`."""
        return await self._client(None).count_tokens(text)

    @asynccontextmanager
    async def relay(self, relay: Relay, names: Sequence[str] = ()) -> AsyncIterator[AgentAccess]:
        """Let an agent send requests on its own; see `engine.protocols.Session.relay`."""

        turns = RelayedTurns()
        first_record = len(self.requests)
        ended: list[RequestFacts] = []

        def admit(asked: RequestFacts) -> RequestPurpose:
            before = turns.count_earlier(asked)
            if before is not None:
                self._turns = before
                if not before:
                    calls.discard_calls()
            try:
                if turns.is_side_request(asked):
                    return self._purpose(SIDE_ROLE)
                repeated = turns.repeated_turn(asked)
                if repeated is not None:
                    return msgspec.structs.replace(self._purpose(SIDE_ROLE), role=self._role, turn=repeated)
                purpose = self._purpose(self._role)
            except LimitReached as limit:
                calls.failure = limit
                calls.limit_told.set()
                calls.ended_by = limit if asked.dialect != "chat" else None
                raise
            turns.add(asked, purpose.turn)
            return purpose

        def note(relayed: RelayedRequest) -> None:
            ended.append(relayed.request_facts)
            is_side = turns.is_side_request(relayed.request_facts)
            sent = self._note_relayed(relayed, is_side)
            if is_side:
                calls.store_result(None, None, [])
            else:
                calls.store_result(relayed.reply, relayed.error, sent)

        client = self._client(None)
        if not isinstance(client, EndpointClient):
            raise UserError(
                f"The model {self.target.model!r} is reached through LiteLLM, which cannot be relayed to "
                "programs: give the address of an OpenAI-compatible endpoint with --base-url."
            )
        settings = with_repeat_seed(client.target.settings, self.trial.repeat)
        grant = relay.open_grant(client, settings, admit, note, names)
        calls = AgentAccess(grant)
        await self._begin()
        try:
            yield calls
        finally:
            await grant.close()
            for place, asked in enumerate(ended, first_record):
                if turns.is_side_request(asked):
                    self.requests[place] = msgspec.structs.replace(self.requests[place], role=SIDE_ROLE)

    def progress(self, text: str) -> None:
        """Display `text` as the present activity of the trial."""
        if self._show is not None:
            self._show(self.trial.key, text)

    @property
    def duration(self) -> int:
        """Nanoseconds since the trial began."""
        return perf_counter_ns() - self.actual_start

    async def _ask(
        self,
        path: str,
        body: dict[str, Any],
        sent: list[Message],
        role: str,
        slot: str | None,
        turn: ScheduledTurn | None = None,
    ) -> Reply:
        client = self._client(slot)
        fields = {**with_repeat_seed(client.target.settings, self.trial.repeat), **body}
        if turn is not None and turn.sent_messages is not None:
            fields["messages"] = turn.sent_messages

        async def begin() -> RequestPurpose:
            if not self._begun:
                await self._begin()
            if turn is not None:
                await wait_until(turn.due_ns)
            purpose = self._purpose(
                role, fields.get("seed"), offered_tool_names(fields.get("tools"), fields.get("tool_choice"))
            )
            self.unanswered = sent or [{"role": "user", "content": body["prompt"]}]
            return purpose

        reply = await client.ask(path, fields, begin, lambda record: self._note(record, turn))
        self.unanswered = []
        self._tokens += reply.usage.total_tokens
        self._asked.append((body, sent, reply.raw))
        return reply

    async def _begin(self) -> None:
        """Wait for the trial's intended start, before its first request."""
        if self._begun or self._due is None:
            return
        await wait_until(self._due)
        if not self._begun:
            self._begun = True
            self.started_at, self.actual_start = wall_ns(), perf_counter_ns()

    def _note(self, record: RequestRecord, turn: ScheduledTurn | None) -> None:
        if turn is not None:
            record = msgspec.structs.replace(record, turn=turn.number, due=turn.due_ns - self.actual_start)
        self.requests.append(record)

    def _note_relayed(self, relayed: RelayedRequest, is_side: bool) -> list[Message]:
        """Record a call that went through the relay and return the messages that it sent."""
        fields, sent = read_relayed_request(relayed)
        left_out = f"{LEFT_OUT_PREFIX}seed" in relayed.record.flags
        seed = None if left_out else storable_seed(fields.get("seed"))
        self.requests.append(msgspec.structs.replace(relayed.record, seed=seed))
        if relayed.error is not None and relayed.record.role == "model" and not is_side:
            self._turns -= 1  # the agent's own client may retry, in the same turn
        self.unanswered = sent if relayed.reply is None else []
        if relayed.reply is None:
            self._tokens += relayed.record.chunks
            return []
        self._asked.append((fields, sent if "messages" in fields else [], relayed.reply.raw))
        # A stream reports its usage only on request. Otherwise its number of chunks is a lower bound.
        self._tokens += relayed.reply.usage.total_tokens or relayed.record.chunks
        return sent

    def _purpose(self, role: str, seed: Any = None, offered: Sequence[str] | None = None) -> RequestPurpose:
        """Return the purpose of the next request: the role, with the seed and the offered tools.

        Raises:
            LimitReached: If the trial may make no further request.
        """
        self._check_limits(role)
        seed = storable_seed(seed)
        purpose = RequestPurpose(
            self.actual_start, role, self._turns, seed, self._waits, offered_tools=offered
        )
        if role == "model":
            self._turns += 1
        return purpose

    def _client(self, slot: str | None) -> ModelClient:
        try:
            return self._clients[slot or self.trial.target.slot]
        except KeyError:
            raise UserError(
                f"This run has no target {slot!r}; set it with --{slot}-model and --{slot}-base-url."
            ) from None

    def _check_limits(self, role: str) -> None:
        limits = self._limits
        if limits.turns is not None and role == "model" and self._turns >= limits.turns:
            raise LimitReached("turns", limits.turns)
        if limits.tokens is not None and self._tokens >= limits.tokens:
            raise LimitReached("tokens", limits.tokens)

    def exchange_bodies(self, outcome: Outcome) -> list[ExchangeBody]:
        """Return the calls in the form in which the journal stores them.

        If the messages of a call are the first messages of the outcome's conversation, only their number is
        stored.
        """
        return [_exchange(asked, outcome.messages) for asked in self._asked]


def _exchange(asked: EncodedRequest, messages: list[Message]) -> ExchangeBody:
    body, sent, response = asked
    known = bool(sent) and messages[: len(sent)] == sent
    request = {name: value for name, value in body.items() if name != "messages" and value is not None}
    if b"\n" in response:
        response = msgspec.json.format(response, indent=-1)
    return ExchangeBody(request, len(sent) if known else sent, msgspec.Raw(response))
