"""Counts and limits the requests that an agent itself sends through the relay, for the session of its trial."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import msgspec

from benchwright.endpoint.relay import Grant, RelayedRequest, RequestFacts, relay_environment
from benchwright.endpoint.reply import Reply
from benchwright.errors import TrialError
from benchwright.records import DECODE_ERRORS, Message

AgentResult = TypeVar("AgentResult")

LIMIT_GRACE_SECONDS = 10.0
"""Number of seconds that an agent gets to end after it was told that a limit is reached."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class RelayedTurns:
    """Distinguishes the requests of an agent that are turns of its conversation from its other requests.

    Once any request has offered tools, a request that offers no tools and whose conversation begins
    differently is a *side* request (for a title or a summary). This holds even if the side request came
    earlier. A side request is not a turn. If a request equals an earlier streamed request, except that it is
    not streamed, it is a further attempt at the turn of the earlier request.
    """

    def __init__(self) -> None:
        self._openings: set[int] = set()
        self._before: list[int] = []
        self._turns: dict[int, tuple[bool, int]] = {}

    def count_earlier(self, asked: RequestFacts) -> int | None:
        """Return how many earlier requests belong to the same conversation, if this request is the first that
        offers tools.

        Return None for any other request.
        """
        if not asked.offers_tools:
            return None
        first = not self._openings
        self._openings.add(asked.opening_digest)
        return self._before.count(asked.opening_digest) if first else None

    def is_side_request(self, asked: RequestFacts) -> bool:
        """Return True if a request is a side request (for a title or a summary), as far as is known so far."""
        return bool(self._openings) and not asked.offers_tools and asked.opening_digest not in self._openings

    def repeated_turn(self, asked: RequestFacts) -> int | None:
        """Return the turn that a request attempts again. None if the request is a new turn."""
        streamed, turn = self._turns.get(asked.digest, (False, 0))
        return turn if streamed and not asked.stream else None

    def add(self, asked: RequestFacts, turn: int) -> None:
        """Register a request that is a new turn."""
        self._turns[asked.digest] = asked.stream, turn
        if not self._openings:
            self._before.append(asked.opening_digest)


class AgentAccess:
    """An agent's access to the model, and the results of its calls.

    - `limit_told`: an event that is set once a call was refused because of a limit.
    - `reply`: the last response.
    - `failure`: the error of the last call that ended. None if that call succeeded.
    - `ended_by`: the limit that ended the conversation, if the agent learned of it by a final response. None if
      it learned of it by an error.
    """

    def __init__(self, grant: Grant) -> None:
        self.base_url = grant.base_url
        self.token = grant.token
        self.model = grant.model
        self.reply: Reply | None = None
        self.failure: TrialError | None = None
        self.ended_by: TrialError | None = None
        self.limit_told = asyncio.Event()
        self._sent: list[Message] = []

    @property
    def messages(self) -> list[Message]:
        """The conversation up to the last response. Empty if there is no response."""
        return [] if self.reply is None else [*self._sent, self.reply.message]

    def environment(self) -> dict[str, str]:
        """Return the environment variables from which client libraries read the relay's address, the token and
        the model.
        """
        return relay_environment(self.base_url, self.token, self.model)

    def discard_calls(self) -> None:
        """Discard the calls so far, because they do not belong to the conversation."""
        self.reply, self._sent = None, []

    async def run_within_limits(self, running: Coroutine[Any, Any, AgentResult]) -> AgentResult | None:
        """Run the agent and return its result.

        Return None if the agent was still running `LIMIT_GRACE_SECONDS` seconds after it was told that a limit is
        reached. In this case it is cancelled.
        """
        run = asyncio.ensure_future(running)
        told = asyncio.ensure_future(self.limit_told.wait())
        try:
            await asyncio.wait({run, told}, return_when=asyncio.FIRST_COMPLETED)
            if not run.done():
                await asyncio.wait({run}, timeout=LIMIT_GRACE_SECONDS)
            return await run if run.done() else None
        finally:
            told.cancel()
            if not run.done():
                run.cancel()
                await asyncio.wait({run})

    def store_result(self, reply: Reply | None, failure: TrialError | None, sent: list[Message]) -> None:
        """Store the result of a call. If the agent abandoned the call, nothing changes."""
        if reply is not None:
            self.reply, self._sent = reply, sent
        if reply is not None or failure is not None:
            self.failure = failure


def read_relayed_request(relayed: RelayedRequest) -> tuple[dict[str, Any], list[Message]]:
    """Return (fields of the request body, messages) of a call. A plain prompt is returned as a user message."""
    try:
        fields = _decode(relayed.body)
    except DECODE_ERRORS:  # not valid JSON, but the model's server accepted it
        return {"body": relayed.body.decode("utf-8", "replace")}, []
    messages = fields.get("messages")
    if isinstance(messages, list) and all(isinstance(message, dict) for message in messages):
        return fields, messages
    prompt = fields.get("prompt")
    return fields, [{"role": "user", "content": prompt}] if isinstance(prompt, str) else []
