"""A conversation by the rules of tau2-bench's orchestrator: turns, tool calls, limits and endings."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, Literal

from benchwright.catalog.asking import system
from benchwright.catalog.tau2_bench.environment import ConversationEnvironment, ConversationMessage
from benchwright.endpoint.call_arguments import read_object_arguments
from benchwright.endpoint.reply import Reply
from benchwright.engine.protocols import Session

MAX_STEPS = 200
"""Maximum number of steps. Each message is a step, and so is each execution of a message's tool calls."""
MAX_TOOL_ERRORS = 10
"""Maximum number of failed tool calls, of agent and user together."""

MAX_RESTARTS = 3
"""Number of times that a conversation is started again after an unusable message (runner/progress.py)."""

ConversationSide = Literal["assistant", "user"]

ConversationEnding = Literal["user_stop", "agent_stop", "max_steps", "too_many_errors", "agent_error"]
"""The reason why a conversation ended, in the authors' words."""

FAILED_ENDINGS: dict[ConversationEnding, str] = {
    "max_steps": f"no end within {MAX_STEPS} steps",
    "too_many_errors": f"{MAX_TOOL_ERRORS} calls failed",
    "agent_error": f"{MAX_RESTARTS + 1} times the agent said nothing (alone: made no call), "
    "or made a call whose arguments "
    "are no JSON object",
}
"""Mapping from endings for which the reward is 0, whatever the final state, to an explanation."""

ToolSchemas = list[dict[str, Any]] | None


class UnusableMessage(Exception):
    """The error that a model sent an empty message, or a call whose arguments are not a JSON object.

    A message is empty if it has neither text nor calls. `side`: who sent the message, agent or user.
    """

    def __init__(self, side: ConversationSide, what: str) -> None:
        super().__init__(what)
        self.side = side


class Conversation(ABC):
    """Conversation between agent and user. For each side, it keeps the message history that the side's model receives.

    Neither side sees the other side's tool calls.
    """

    def __init__(
        self,
        session: Session,
        world: ConversationEnvironment,
        prompts: dict[ConversationSide, str],
        tools: dict[ConversationSide, ToolSchemas],
    ) -> None:
        self._session = session
        self._world = world
        self._tools = tools
        self.messages: list[ConversationMessage] = []
        self.heard: dict[ConversationSide, list[dict[str, Any]]] = {
            side: [system(prompt)] for side, prompt in prompts.items()
        }
        self._steps = self._errors = 0

    async def run(self) -> ConversationEnding:
        """Let both sides talk until one side or a limit ends the conversation.

        Return the reason why it ended.

        Raises:
            UnusableMessage: If one side sends an unusable message.
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
    def _stopped(self) -> ConversationEnding | None:
        """Return the reason if the last message ends the conversation. Return None otherwise."""

    @abstractmethod
    def _next(self) -> ConversationSide:
        """Return the side whose turn it is."""

    @abstractmethod
    async def _answer(self, side: ConversationSide) -> tuple[Reply, ConversationMessage]:
        """Send the history of one side to its model. Return the response, and the message made from the response."""

    def _limit(self) -> ConversationEnding | None:
        """Return the limit that was reached.

        Return None if no limit was reached. Return None also while tool calls wait for their results.
        """
        if self.messages[-1].get("tool_calls"):
            return None
        if self._errors >= MAX_TOOL_ERRORS:
            return "too_many_errors"
        return "max_steps" if self._steps >= MAX_STEPS else None

    async def _make_calls(self, message: ConversationMessage) -> None:
        calls = message["tool_calls"]
        self._session.progress(f"step {self._steps + 1}: {calls[0]['name']}")
        for call, result in zip(calls, await self._world.call_tools(calls), strict=True):
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

    def _note(self, message: ConversationMessage, sent: dict[str, Any] | None = None) -> None:
        """Append a message to the conversation, and to the history of each side that sees the message.

        `sent`: the message as the model sent it; None if the message is not from a model.
        """
        self.messages.append(message)
        calls = message.get("tool_calls")
        if message["role"] == "tool":
            self.heard[message.get("requestor", "assistant")].append(
                {"role": "tool", "tool_call_id": message["id"], "content": message["content"]}
            )
            return
        side: ConversationSide = message["role"]
        self.heard[side].append(sent or message_to_reply(message))
        other: ConversationSide = "user" if side == "assistant" else "assistant"
        if not calls and other in self.heard:
            self.heard[other].append({"role": "user", "content": message["content"]})


def reply_to_message(reply: Reply, side: ConversationSide) -> ConversationMessage:
    """Convert a model's response into a message of the conversation.

    Raises:
        UnusableMessage: If the response has neither text nor calls, or if a call's arguments are no JSON
            object.
    """
    message: ConversationMessage = {"role": side, "content": reply.text or None}
    if reply.tool_calls:
        message["tool_calls"] = [_call(call, side) for call in reply.tool_calls]
    elif not reply.text.strip():
        raise UnusableMessage(side, "said nothing")
    return message


def _call(call: dict[str, Any], side: ConversationSide) -> dict[str, Any]:
    name = str(call["function"].get("name") or "")
    arguments = read_object_arguments(call["function"].get("arguments"))
    if arguments is None:
        raise UnusableMessage(side, f"called {name} with arguments that are no JSON object")
    return {"id": call.get("id") or "", "name": name, "arguments": arguments, "requestor": side}


def message_to_reply(message: ConversationMessage) -> dict[str, Any]:
    """Convert a message of a task's prescribed history into the form in which a model would have sent the message."""
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
