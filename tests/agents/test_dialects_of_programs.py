"""Programs that ask in Messages, Responses or Gemini, and what of their requests is a turn."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.agents.outside_kit import Ran, run_trial, write_rows

from benchwright.agents.command_task import command_task
from benchwright.endpoint.simulate import Settings
from benchwright.records import Status, TrialLimits

PRELUDE = """
import json, os, sys, urllib.request

TOOLS = [{"name": "shell", "input_schema": {"type": "object"}}]

def ask(content, **fields):
    messages = [{"role": "user", "content": content}]
    body = json.dumps({"model": "mine", "max_tokens": 50, "messages": messages, **fields}).encode()
    headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01"}
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages?beta=true", body, headers)
    with urllib.request.urlopen(request) as answer:
        said = answer.read()
    return said if fields.get("stream") else json.loads(said)["content"][0]["text"]

def respond(text):
    body = json.dumps({"model": "mine", "input": text}).encode()
    token = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/responses", body, token)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["output"][0]["content"][0]["text"]

def generate(text):
    body = json.dumps({"contents": [{"parts": [{"text": text}]}]}).encode()
    address = os.environ["GOOGLE_GEMINI_BASE_URL"] + "/v1beta/models/mine:generateContent?key="
    request = urllib.request.Request(address + os.environ["GEMINI_API_KEY"], body)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["candidates"][0]["content"]["parts"][0]["text"]

row = json.load(sys.stdin)
"""

RunProgram = Callable[..., Coroutine[Any, Any, Ran]]


@pytest.fixture
def run_program(tmp_path: Path, row: dict[str, Any]) -> RunProgram:
    """Runs one trial of an agent that is this Python program.

    It has `ask` (Messages), `respond` (Responses) and `generate` (Gemini).
    """

    async def run(program: str, *arguments: Any, **options: Any) -> Ran:
        script = tmp_path / "agent.py"
        script.write_text(PRELUDE + program)
        command = shlex.join([sys.executable, str(script)])
        task = command_task(write_rows(tmp_path / "rows.jsonl", row), command, ())
        return await run_trial(task, *arguments, **options)

    return run


def turns(ran: Ran) -> list[tuple[str, int]]:
    return [(request.role, request.turn) for request in ran.record.requests]


@pytest.mark.parametrize("chat_only", [False, True], ids=["passed on", "translated"])
class TestProgram:
    async def test_may_ask_in_messages(self, run_program: RunProgram, chat_only: bool) -> None:
        ran = await run_program("print(ask('Hello'))", Settings(chat_only=chat_only))
        assert (ran.record.status, ran.body.answer) == (Status.ANSWERED, "Hello")
        assert [request.dialect for request in ran.record.requests] == ["messages"]

    async def test_may_ask_in_responses(self, run_program: RunProgram, chat_only: bool) -> None:
        ran = await run_program("print(respond('Hello'))", Settings(chat_only=chat_only))
        assert (ran.record.status, ran.body.answer) == (Status.ANSWERED, "Hello")
        assert [request.dialect for request in ran.record.requests] == ["responses"]

    async def test_may_ask_in_gemini(self, run_program: RunProgram, chat_only: bool) -> None:
        ran = await run_program("print(generate('Hello'))", Settings(chat_only=chat_only))
        assert (ran.record.status, ran.body.answer) == (Status.ANSWERED, "Hello")
        assert [request.dialect for request in ran.record.requests] == ["gemini"]
        assert [message["content"] for message in ran.body.messages] == ["Hello", "Hello"]

    async def test_leaves_its_conversation_as_any_other(
        self, run_program: RunProgram, chat_only: bool
    ) -> None:
        ran = await run_program("print(ask('Hello', system='Be kind.'))", Settings(chat_only=chat_only))
        assert ran.body.messages == [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hello"},
        ]


class TestEnvironment:
    async def test_has_the_addresses_that_clients_of_each_dialect_expect(
        self, run_program: RunProgram
    ) -> None:
        program = "print(json.dumps({'answer': json.dumps(dict(os.environ))}))"
        ran = await run_program(program, Settings(api_key="sk-the-real-key"), key="sk-the-real-key")
        environment = json.loads(ran.body.answer)
        assert environment["OPENAI_BASE_URL"] == environment["ANTHROPIC_BASE_URL"] + "/v1"
        assert environment["GOOGLE_GEMINI_BASE_URL"] == environment["ANTHROPIC_BASE_URL"]
        names = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY")
        assert len({environment[name] for name in names}) == 1
        assert "sk-the-real-key" not in ran.body.answer


class TestTurns:
    async def test_are_the_requests_that_offer_tools_where_any_does(self, run_program: RunProgram) -> None:
        program = "ask('a title?')\nask('one', tools=TOOLS)\nask('sum up')\nprint(ask('two', tools=TOOLS))"
        ran = await run_program(program)
        assert turns(ran) == [("side", 0), ("model", 0), ("side", 1), ("model", 1)]

    async def test_are_all_of_a_conversation_whether_each_offers_tools_or_not(
        self, run_program: RunProgram
    ) -> None:
        program = "ask('one')\nask('one', tools=TOOLS)\nprint(ask('one', max_tokens=9))"
        ran = await run_program(program)
        assert turns(ran) == [("model", 0), ("model", 1), ("model", 2)]
        assert ran.body.answer == "one"

    async def test_are_all_requests_where_none_offers_tools(self, run_program: RunProgram) -> None:
        ran = await run_program("ask('one')\nprint(ask('two'))")
        assert turns(ran) == [("model", 0), ("model", 1)]

    async def test_do_not_count_what_is_repeated_without_a_stream(self, run_program: RunProgram) -> None:
        ran = await run_program("ask('one', stream=True)\nask('one')\nprint(ask('two'))")
        assert turns(ran) == [("model", 0), ("model", 0), ("model", 1)]

    async def test_count_the_same_question_asked_twice(self, run_program: RunProgram) -> None:
        ran = await run_program("ask('one')\nprint(ask('one'))")
        assert turns(ran) == [("model", 0), ("model", 1)]

    async def test_are_the_conversation_and_side_requests_are_not(self, run_program: RunProgram) -> None:
        ran = await run_program("print(ask('one', tools=TOOLS))\nask('a title?')")
        assert [message["content"] for message in ran.body.messages] == ["one", "one"]

    async def test_are_limited_and_side_requests_are_not(self, run_program: RunProgram) -> None:
        program = "ask('a title?')\nask('one', tools=TOOLS)\nask('a title?')\nprint(ask('two', tools=TOOLS))"
        ran = await run_program(program, limits=TrialLimits(turns=2))
        assert ran.record.status is Status.ANSWERED

    async def test_beyond_the_limit_end_the_trial_although_the_program_ends_well(
        self, run_program: RunProgram
    ) -> None:
        program = "ask('one', tools=TOOLS)\nprint(ask('two', tools=TOOLS))"
        ran = await run_program(program, limits=TrialLimits(turns=1))
        assert ran.record.status is Status.LIMIT
        assert turns(ran) == [("model", 0)]
