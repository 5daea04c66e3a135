"""tau2-bench's agent without a user (LLMSoloAgent).

The agent works from a ticket. It has the user's tools besides its own.
"""

from __future__ import annotations

from typing import Any

from benchwright.catalog.tau2_bench.conversation import (
    Conversation,
    ConversationEnding,
    ConversationSide,
    UnusableMessage,
    reply_to_message,
)
from benchwright.catalog.tau2_bench.environment import ConversationEnvironment, ConversationMessage
from benchwright.endpoint.reply import Reply
from benchwright.engine.protocols import Session

DONE_TOOL = "done"
"""The name of the tool that the agent calls when it has finished."""
STOP_TEXT = "###STOP###"
"""The text that replaces a call of `done` in the conversation."""

SOLO_INSTRUCTIONS = f"""You are a customer service agent that helps the user according to the <policy> provided below.
You will be provided with a ticket that contains the user's request.
You will need to plan and call the appropriate tools to solve the ticket.

You cannot communicate with the user, only make tool calls.
Stop when you consider that you have solved the ticket.
To do so, send a message containing a single tool call to the `{DONE_TOOL}` tool. Do not include any other tool calls in this last message.

Always follow the policy. Always make sure you generate valid JSON only."""  # noqa: E501
"""The agent's instructions, word for word, so that scores are comparable."""


class SoloConversation(Conversation):
    """A conversation of an agent with its tools only. It ends when the agent calls `done` or a limit is reached."""

    def __init__(self, session: Session, world: ConversationEnvironment, task: dict[str, Any]) -> None:
        prompts: dict[ConversationSide, str] = {
            "assistant": agent_prompt(world.told.policy, str(task.get("ticket")))
        }
        super().__init__(session, world, prompts, {"assistant": world.told.tools})
        history = (task.get("initial_state") or {}).get("message_history") or []
        for message in history:
            self._note(message)
        if not history:
            self._steps = -1  # as in the authors' code, where the first message is not counted as a step

    def _stopped(self) -> ConversationEnding | None:
        return "agent_stop" if self.messages and self.messages[-1]["role"] == "assistant" else None

    def _next(self) -> ConversationSide:
        return "assistant"

    async def _answer(self, side: ConversationSide) -> tuple[Reply, ConversationMessage]:
        reply = await self._session.chat(self.heard[side], tools=self._tools[side], tool_choice="required")
        message = reply_to_message(reply, side)
        calls = message.get("tool_calls")
        if not calls:
            raise UnusableMessage(side, "made no call")
        if any(call["name"] == DONE_TOOL for call in calls):
            message = {"role": side, "content": STOP_TEXT}
        elif STOP_TEXT in (message["content"] or ""):
            raise UnusableMessage(side, "said that it stops, and made a call")
        return reply, message


def agent_prompt(policy: str, ticket: str) -> str:
    """Return the solo agent's system prompt, which contains the policy and the ticket."""
    return (
        f"<instructions>\n{SOLO_INSTRUCTIONS}\n</instructions>\n<policy>\n{policy}\n</policy>\n"
        f"<ticket>\n{ticket}\n</ticket>"
    )
