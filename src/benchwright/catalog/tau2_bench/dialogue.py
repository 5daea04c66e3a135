"""tau2-bench's agent in conversation with a simulated user, who may also have tools (user_simulator.py)."""

from __future__ import annotations

from typing import Any

from benchwright.catalog.tau2_bench.conversation import (
    Conversation,
    ConversationEnding,
    ConversationSide,
    reply_to_message,
)
from benchwright.catalog.tau2_bench.environment import ConversationEnvironment, ConversationMessage
from benchwright.endpoint.reply import Reply
from benchwright.engine.protocols import Session

STOP_MARKS = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")
GREETING = "Hi! How can I help you today?"

AGENT_INSTRUCTIONS = """You are a customer service agent that helps the user according to the <policy> provided below.
In each turn you can either:
- Send a message to the user.
- Make a tool call.
You cannot do both at the same time.

Try to be helpful and always follow the policy. Always make sure you generate valid JSON only."""
"""The agent's instructions, word for word, so that scores are comparable."""


class Dialogue(Conversation):
    """A conversation of the agent with a simulated user. The user ends it. Both models have temperature 0."""

    def __init__(
        self, session: Session, world: ConversationEnvironment, guidelines: str, task: dict[str, Any]
    ) -> None:
        told = world.told
        super().__init__(
            session,
            world,
            {"assistant": agent_prompt(told.policy), "user": user_prompt(guidelines, told.scenario)},
            {"assistant": told.tools, "user": told.user_tools},
        )
        state = task.get("initial_state") or {}
        for message in state.get("message_history") or [{"role": "assistant", "content": GREETING}]:
            self._note(message)

    def _stopped(self) -> ConversationEnding | None:
        return "user_stop" if is_stop_message(self.messages[-1]) else None

    def _next(self) -> ConversationSide:
        """Return the side whose turn it is. After tool results, it is the side that made the calls."""
        last = self.messages[-1]
        if last["role"] == "tool":
            return "user" if last.get("requestor") == "user" else "assistant"
        return "user" if last["role"] == "assistant" else "assistant"

    async def _answer(self, side: ConversationSide) -> tuple[Reply, ConversationMessage]:
        tools = self._tools[side]
        params: dict[str, Any] = {"tools": tools} if tools else {}
        if side == "user":
            params |= {"role": "user", "slot": "user", "temperature": 0.0}
        reply = await self._session.chat(self.heard[side], **params)
        return reply, reply_to_message(reply, side)


def agent_prompt(policy: str) -> str:
    """Return the agent's system prompt."""
    return f"<instructions>\n{AGENT_INSTRUCTIONS}\n</instructions>\n<policy>\n{policy}\n</policy>"


def user_prompt(guidelines: str, scenario: str) -> str:
    """Return the simulated user's system prompt.

    No persona is filled in, as in the authors' default.
    """
    general = guidelines.replace("<PERSONA_GUIDELINES>", "")
    return f"{general}\n\n<scenario>\n{scenario}\n</scenario>"


def is_stop_message(message: ConversationMessage) -> bool:
    """Return True if the user ends the conversation with this message."""
    text = message.get("content") or ""
    return (
        message["role"] == "user"
        and not message.get("tool_calls")
        and any(stop in text for stop in STOP_MARKS)
    )
