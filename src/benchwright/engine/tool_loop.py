"""The tool loop: ask the model, run the tools that it calls, repeat.

Every task that gives tools to a model uses this loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from benchwright.endpoint.call_arguments import read_arguments
from benchwright.endpoint.reply import Reply
from benchwright.engine.answers import answer_status, final_answer
from benchwright.engine.protocols import Session
from benchwright.records import Message, Outcome, Status


class Toolbox(Protocol):
    """The tools of one trial."""

    @property
    def tools(self) -> Sequence[dict[str, Any]]:
        """The tools' schemas, in the OpenAI format."""
        ...

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Run a tool and return its result as text for the model. An exception is reported to the model too."""
        ...


async def run_tool_loop(
    session: Session, messages: Sequence[Message], toolbox: Toolbox, max_turns: int, **params: Any
) -> Outcome:
    """Let the model work with tools until it answers without a tool call, for at most `max_turns` responses.

    The tool calls of one response run one after the other, in order. If a call fails (arguments that are not a
    JSON object, an unknown tool, an exception of the tool), it is answered with `Error: …`, and the loop goes
    on. `params` are body fields of every request. If the turns are used up, the status is `limit`.

    Raises:
        ProviderError, LimitReached: See `Session.chat`.
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
        return await toolbox.call(function["name"], read_arguments(function["arguments"]))
    except Exception as error:  # every exception of a tool is reported to the model
        return f"Error: {error}"


def _outcome(conversation: list[Message], reply: Reply) -> Outcome:
    status, reason = answer_status(reply)
    return Outcome(status, conversation, reply.text, reason)
