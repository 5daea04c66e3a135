"""Calls that an agent makes on its own, through the relay, as the session of its trial sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import msgspec

from benchwright.endpoint.relay import Asked, Grant, RelayedRequest, relay_environment
from benchwright.endpoint.reply import Reply
from benchwright.errors import TrialError
from benchwright.records import UNREADABLE, Message

Ended = TypeVar("Ended")

LIMIT_PATIENCE = 10.0
"""Seconds that an agent gets to end once it was told that a limit is reached."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class RelayedTurns:
    """Tells the turns of an agent from what else it asks.

    Where a request offers tools, one that offers none and whose conversation begins otherwise is a *side* request (a
    title, a summary), whenever it came: it is not a turn. A request that only differs from an earlier one by not being
    streamed is a further attempt at that turn.
    """

    def __init__(self) -> None:
        self._openings: set[int] = set()
        self._before: list[int] = []
        self._turns: dict[int, tuple[bool, int]] = {}

    def before(self, asked: Asked) -> int | None:
        """Of the first request that offers tools: how many of those before it belong to its conversation."""
        if not asked.offers_tools:
            return None
        first = not self._openings
        self._openings.add(asked.opening)
        return self._before.count(asked.opening) if first else None

    def is_side(self, asked: Asked) -> bool:
        """Whether it is a side request, as far as is known."""
        return bool(self._openings) and not asked.offers_tools and asked.opening not in self._openings

    def repeated(self, asked: Asked) -> int | None:
        """The turn of which this is a further attempt, if it is one."""
        streamed, turn = self._turns.get(asked.digest, (False, 0))
        return turn if streamed and not asked.stream else None

    def add(self, asked: Asked, turn: int) -> None:
        """Takes a request in that is a turn of its own."""
        self._turns[asked.digest] = asked.stream, turn
        if not self._openings:
            self._before.append(asked.opening)


class RelayedCalls:
    """What an agent is given to reach the model, and how its calls went.

    `limit_told` is set when a call was refused for a limit.
    `reply` is the last answer; `failure` is why the last call had none, as far as it had an end. `ended_by` is the
    limit of which the agent was told by a last answer, not by an error.
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
        """The conversation that ended with the last answer; empty without one."""
        return [] if self.reply is None else [*self._sent, self.reply.message]

    def environment(self) -> dict[str, str]:
        """The variables in which clients of each dialect look for the address, the key and the model."""
        return relay_environment(self.base_url, self.token, self.model)

    def forget(self) -> None:
        """The calls so far were not part of the conversation."""
        self.reply, self._sent = None, []

    async def within_limits(self, running: Coroutine[Any, Any, Ended]) -> Ended | None:
        """What the agent's run returns; None where it went on after it was told of a limit, and was cancelled."""
        run = asyncio.ensure_future(running)
        told = asyncio.ensure_future(self.limit_told.wait())
        try:
            await asyncio.wait({run, told}, return_when=asyncio.FIRST_COMPLETED)
            if not run.done():
                await asyncio.wait({run}, timeout=LIMIT_PATIENCE)
            return await run if run.done() else None
        finally:
            told.cancel()
            if not run.done():
                run.cancel()
                await asyncio.wait({run})

    def ended(self, reply: Reply | None, failure: TrialError | None, sent: list[Message]) -> None:
        """Takes the end of a call in; one that was given up changes nothing."""
        if reply is not None:
            self.reply, self._sent = reply, sent
        if reply is not None or failure is not None:
            self.failure = failure


def read_request(relayed: RelayedRequest) -> tuple[dict[str, Any], list[Message]]:
    """(fields of the body, messages that were sent) of a call; a plain prompt counts as a user's message."""
    try:
        fields = _decode(relayed.body)
    except UNREADABLE:  # the model's server could read it
        return {"body": relayed.body.decode("utf-8", "replace")}, []
    messages = fields.get("messages")
    if isinstance(messages, list) and all(isinstance(message, dict) for message in messages):
        return fields, messages
    prompt = fields.get("prompt")
    return fields, [{"role": "user", "content": prompt}] if isinstance(prompt, str) else []
