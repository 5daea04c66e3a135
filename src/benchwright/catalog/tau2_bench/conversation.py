"""A conversation as the authors' orchestrator holds one: who speaks next, whose calls are made, what ends it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, Literal

import msgspec

from benchwright.catalog.asking import system
from benchwright.catalog.tau2_bench.world import Message, World
from benchwright.endpoint.reply import Reply
from benchwright.engine.protocols import Session

MAX_STEPS = 200
"""Messages, and rounds of tool calls."""
MAX_ERRORS = 10
"""Failed calls, of both sides together."""

RETRIES = 3
"""How often a conversation begins again in which one side said something that cannot be used (runner/progress.py)."""

Side = Literal["assistant", "user"]

Ending = Literal["user_stop", "agent_stop", "max_steps", "too_many_errors", "agent_error"]
"""What ended a conversation, in the authors' words."""

PREMATURE: dict[Ending, str] = {
    "max_steps": f"no end within {MAX_STEPS} steps",
    "too_many_errors": f"{MAX_ERRORS} calls failed",
    "agent_error": f"{RETRIES + 1} times the agent said nothing (alone: made no call), or made a call whose arguments "
    "are no JSON object",
}
"""Why a conversation is worth nothing, whatever it came to."""

Tools = list[dict[str, Any]] | None


class Unusable(Exception):
    """An answer that says nothing, or calls with arguments that are no JSON object; of which side."""

    def __init__(self, side: Side, what: str) -> None:
        super().__init__(what)
        self.side = side


class Conversation(ABC):
    """A conversation and what each side has heard of it, as it is sent to its model: neither sees the other's calls."""

    def __init__(
        self, session: Session, world: World, prompts: dict[Side, str], tools: dict[Side, Tools]
    ) -> None:
        self._session = session
        self._world = world
        self._tools = tools
        self.messages: list[Message] = []
        self.heard: dict[Side, list[dict[str, Any]]] = {
            side: [system(prompt)] for side, prompt in prompts.items()
        }
        self._steps = self._errors = 0

    async def hold(self) -> Ending:
        """Lets them talk until one of them, or a limit, ends it.

        Raises:
            Unusable: one of them says something that is no message.
        """
        while True:
            last = self.messages[-1] if self.messages else {}
            if last.get("tool_calls"):
                await self._make_calls(last)
            elif ending := self._stopped():
                return ending
            else:
                reply, message = await self._answer(self._next())
                self._note(message, reply.message)
            self._steps += 1
            if ending := self._limit():
                return ending

    @abstractmethod
    def _stopped(self) -> Ending | None:
        """How the last message ends the conversation, if it does."""

    @abstractmethod
    def _next(self) -> Side:
        """Whose turn it is."""

    @abstractmethod
    async def _answer(self, side: Side) -> tuple[Reply, Message]:
        """What a side's model answers, and the message that it is."""

    def _limit(self) -> Ending | None:
        """The limit that is reached; none while calls wait for their results."""
        if self.messages[-1].get("tool_calls"):
            return None
        if self._errors >= MAX_ERRORS:
            return "too_many_errors"
        return "max_steps" if self._steps >= MAX_STEPS else None

    async def _make_calls(self, message: Message) -> None:
        calls = message["tool_calls"]
        self._session.progress(f"step {self._steps + 1}: {calls[0]['name']}")
        for call, result in zip(calls, await self._world.call(calls), strict=True):
            self._errors += result.error
            self._note(
                {
                    "role": "tool",
                    "id": call["id"],
                    "content": result.content,
                    "requestor": call["requestor"],
                    "error": result.error,
                }
            )

    def _note(self, message: Message, sent: dict[str, Any] | None = None) -> None:
        """Writes a message down, and tells it to those who hear it; `sent` is as its own model sent it."""
        self.messages.append(message)
        calls = message.get("tool_calls")
        if message["role"] == "tool":
            self.heard[message.get("requestor", "assistant")].append(
                {"role": "tool", "tool_call_id": message["id"], "content": message["content"]}
            )
            return
        side: Side = message["role"]
        self.heard[side].append(sent or as_sent(message))
        other: Side = "user" if side == "assistant" else "assistant"
        if not calls and other in self.heard:
            self.heard[other].append({"role": "user", "content": message["content"]})


def said(reply: Reply, side: Side) -> Message:
    """A model's answer as a message of the conversation.

    Raises:
        Unusable: it is none.
    """
    message: Message = {"role": side, "content": reply.text or None}
    if reply.tool_calls:
        message["tool_calls"] = [_call(call, side) for call in reply.tool_calls]
    elif not reply.text.strip():
        raise Unusable(side, "said nothing")
    return message


def _call(call: dict[str, Any], side: Side) -> dict[str, Any]:
    name = str(call["function"].get("name") or "")
    try:
        arguments = json.loads(call["function"].get("arguments") or "{}", parse_constant=_refuse)
        msgspec.json.encode(arguments)  # halves of characters, which no file takes, raise a ValueError, too
    except (ValueError, TypeError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise Unusable(side, f"called {name} with arguments that are no JSON object")
    return {"id": call.get("id") or "", "name": name, "arguments": arguments, "requestor": side}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def as_sent(message: Message) -> dict[str, Any]:
    """A message of the task's own as its side's model would have sent it."""
    sent: dict[str, Any] = {"role": "assistant", "content": message.get("content")}
    if calls := message.get("tool_calls"):
        sent["tool_calls"] = [
            {
                "id": call.get("id") or "",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
            }
            for call in calls
        ]
    return sent
