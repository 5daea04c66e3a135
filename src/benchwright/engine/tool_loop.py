"""Ask, run the tools that the model asks for, repeat: the loop of every task that gives a model tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from benchwright.endpoint.reply import Reply
from benchwright.engine.answers import answer_status, final_answer
from benchwright.engine.protocols import Session
from benchwright.records import Message, Outcome, Status


class Toolbox(Protocol):
    """The tools of one trial."""

    @property
    def tools(self) -> Sequence[dict[str, Any]]:
        """Their schemas, in the OpenAI format."""
        ...

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Runs a tool and returns what the model is told. What it raises is told to the model too."""
        ...


async def tool_loop(
    session: Session, messages: Sequence[Message], toolbox: Toolbox, max_turns: int, **params: Any
) -> Outcome:
    """Lets the model work with tools until it answers without calling any, `max_turns` answers at most.

    Tool calls of one answer run one after the other, in order. A call that fails (arguments that are no JSON
    object, an unknown tool, whatever the tool raises) is answered with `Error: …`, and the loop goes on.
    `params` are body fields of every request. Out of turns, the status is `limit`.

    Raises:
        ProviderError, LimitReached: see `Session.chat`.
    """
    conversation = list(messages)
    tools = list(toolbox.tools)
    for turn in range(max_turns):
        reply = await session.chat(conversation, tools=tools or None, **params)
        conversation.append(reply.message)
        if not reply.tool_calls:
            return _outcome(conversation, reply)
        for call in reply.tool_calls:
            session.progress(f"turn {turn + 1}: {call['function']['name']}")
            result = await _run_call(toolbox, call)
            conversation.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return Outcome(
        Status.LIMIT, conversation, final_answer(conversation), f"no final answer within {max_turns} turns"
    )


async def _run_call(toolbox: Toolbox, call: dict[str, Any]) -> str:
    function = call["function"]
    try:
        arguments = msgspec.json.decode(function["arguments"] or "{}")
        if not isinstance(arguments, dict):
            return "Error: the arguments must be a JSON object"
        return await toolbox.call(function["name"], arguments)
    except Exception as error:  # whatever a tool raises, the model is told
        return f"Error: {error}"


def _outcome(conversation: list[Message], reply: Reply) -> Outcome:
    status, reason = answer_status(reply)
    return Outcome(status, conversation, reply.text, reason)
