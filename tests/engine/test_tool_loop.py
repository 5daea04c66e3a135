"""The tool loop: ask, run the tools that were asked for, tell the results, until there is an answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from tests.engine.engine_kit import TARGET

from benchwright.endpoint.relay import Relay
from benchwright.endpoint.reply import Reply
from benchwright.engine.agent_requests import AgentAccess
from benchwright.engine.tool_loop import run_tool_loop
from benchwright.errors import LimitReached, ProviderError
from benchwright.records import Message, Outcome, Status

ADD = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}


class Calculator:
    """A toolbox with one tool, which notes what it was called with."""

    tools: Sequence[dict[str, Any]] = [ADD]

    def __init__(self) -> None:
        self.called: list[tuple[str, dict[str, Any]]] = []

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        self.called.append((name, arguments))
        if name != "add":
            raise KeyError(name)
        return str(sum(arguments["numbers"]))


class Script:
    """A session whose model says what is in the script."""

    target = TARGET

    def __init__(self, *replies: Reply | Exception) -> None:
        self._replies = list(replies)
        self.asked: list[list[Message]] = []
        self.params: list[dict[str, Any]] = []
        self.shown: list[str] = []

    async def chat(
        self, messages: Sequence[Message], *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        self.asked.append(list(messages))
        self.params.append(params)
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def complete(
        self, prompt: str, *, role: str = "model", slot: str | None = None, **params: Any
    ) -> Reply:
        raise AssertionError("a tool loop chats")

    async def count_tokens(self, text: str) -> int | None:
        raise AssertionError("a tool loop counts no tokens")

    def relay(self, relay: Relay, names: Sequence[str] = ()) -> AbstractAsyncContextManager[AgentAccess]:
        raise AssertionError("a tool loop asks by itself")

    def progress(self, text: str) -> None:
        self.shown.append(text)


def calls(*calls: tuple[str, str]) -> Reply:
    """An answer that calls tools: (name, arguments as the model wrote them)."""
    tool_calls = [
        {"id": f"call {number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls)
    ]
    return Reply({"role": "assistant", "content": None, "tool_calls": tool_calls}, tool_calls=tool_calls)


def says(text: str, finish_reason: str = "stop") -> Reply:
    return Reply({"role": "assistant", "content": text}, text=text, finish_reason=finish_reason)


QUESTION: list[Message] = [{"role": "user", "content": "1 + 2?"}]


async def outcome_of(session: Script, toolbox: Calculator, max_turns: int = 5, **params: Any) -> Outcome:
    return await run_tool_loop(session, QUESTION, toolbox, max_turns, **params)


async def test_tools_are_run_and_their_results_told_until_there_is_an_answer() -> None:
    session, toolbox = Script(calls(("add", '{"numbers": [1, 2]}')), says("It is 3.")), Calculator()
    outcome = await outcome_of(session, toolbox)
    assert (outcome.status, outcome.answer) == (Status.ANSWERED, "It is 3.")
    assert toolbox.called == [("add", {"numbers": [1, 2]})]
    assert [message["role"] for message in outcome.messages] == ["user", "assistant", "tool", "assistant"]
    assert outcome.messages[2] == {"role": "tool", "tool_call_id": "call 0", "content": "3"}
    assert session.shown == ["turn 1: add"]
    assert QUESTION == [{"role": "user", "content": "1 + 2?"}], "the caller's messages are left as they were"


async def test_several_calls_of_one_answer_are_answered_in_order() -> None:
    two = calls(("add", '{"numbers": [1]}'), ("add", '{"numbers": [2]}'))
    session, toolbox = Script(two, says("done")), Calculator()
    outcome = await outcome_of(session, toolbox)
    told = [(message["tool_call_id"], message["content"]) for message in outcome.messages[2:4]]
    assert told == [("call 0", "1"), ("call 1", "2")]


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("add", '{"numbers": [1', "Error: "),
        ("add", "[1, 2]", "Error: the arguments must be a JSON object"),
        ("add", "", "Error: 'numbers'"),
        ("subtract", "{}", "Error: 'subtract'"),
    ],
    ids=["torn JSON", "no object", "nothing", "unknown tool"],
)
async def test_a_call_that_fails_is_told_and_the_loop_goes_on(name: str, arguments: str, error: str) -> None:
    session = Script(calls((name, arguments)), says("I give up."))
    outcome = await outcome_of(session, Calculator())
    assert outcome.messages[2]["content"].startswith(error)
    assert (outcome.status, outcome.answer) == (Status.ANSWERED, "I give up.")


async def test_a_model_that_never_stops_calling_reaches_the_limit() -> None:
    session = Script(*[calls(("add", '{"numbers": [1]}'))] * 3)
    outcome = await outcome_of(session, Calculator(), max_turns=3)
    assert (outcome.status, outcome.reason) == (Status.LIMIT, "no final answer within 3 turns")
    assert outcome.answer == ""
    assert len(session.asked) == 3


async def test_tools_and_further_fields_go_with_every_request() -> None:
    session = Script(calls(("add", '{"numbers": [1]}')), says("done"))
    await outcome_of(session, Calculator(), temperature=0.5)
    assert session.params == [{"tools": [ADD], "temperature": 0.5}] * 2


async def test_without_tools_none_are_offered() -> None:
    toolbox, session = Calculator(), Script(says("done"))
    toolbox.tools = []
    await outcome_of(session, toolbox)
    assert session.params[0].get("tools") is None


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (says("It is", finish_reason="length"), Status.TRUNCATED),
        (says("", finish_reason="content_filter"), Status.REFUSED),
        (Reply({"role": "assistant", "content": ""}, refusal="I cannot help"), Status.REFUSED),
    ],
    ids=["cut off", "filtered", "refused"],
)
async def test_how_the_last_answer_ended_is_how_the_trial_ends(reply: Reply, status: Status) -> None:
    outcome = await outcome_of(Script(reply), Calculator())
    assert outcome.status is status
    assert outcome.reason


@pytest.mark.parametrize("error", [ProviderError("HTTP 500"), LimitReached("tokens", 10)])
async def test_a_failing_endpoint_and_a_limit_end_the_loop(error: Exception) -> None:
    with pytest.raises(type(error)):
        await outcome_of(Script(error), Calculator())


def test_arguments_are_what_a_model_wrote() -> None:
    """The script above speaks as the wire does: arguments are a JSON string."""
    (call,) = calls(("add", json.dumps({"numbers": [1]}))).tool_calls
    assert json.loads(call["function"]["arguments"]) == {"numbers": [1]}
