"""An agent that is a function, against a real (simulated) endpoint."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.agents.outside_kit import Ran, run_trial, write_rows

from benchwright.agents.callable_task import CallableAgent, callable_task
from benchwright.agents.loading import load_object
from benchwright.endpoint.simulate import Settings, keyed_answers
from benchwright.errors import UserError
from benchwright.records import Status, TrialLimits

EXAMPLES = Path(__file__).parents[2] / "examples"

RunFunction = Callable[..., Awaitable[Ran]]


def ask(base_url: str, api_key: str, model: str, content: str) -> str:
    body = {"model": model, "messages": [{"role": "user", "content": content}]}
    request = urllib.request.Request(
        f"{base_url}/chat/completions", json.dumps(body).encode(), {"Authorization": f"Bearer {api_key}"}
    )
    try:
        with urllib.request.urlopen(request) as answer:
            said: str = json.load(answer)["choices"][0]["message"]["content"]
            return said
    except urllib.error.HTTPError as refusal:
        refusal.close()  # or its socket stays open until somebody collects it
        raise


@pytest.fixture
def run_function(tmp_path: Path, row: dict[str, Any]) -> RunFunction:
    """Runs one trial of an agent that is this function."""
    dataset = write_rows(tmp_path / "rows.jsonl", row)

    async def run(function: Callable[..., Any], *arguments: Any, **options: Any) -> Ran:
        task = callable_task(dataset, function, (), module="mine:agent")
        return await run_trial(task, *arguments, **options)

    return run


class TestFunction:
    async def test_gets_the_row_and_the_way_to_the_model(
        self, run_function: RunFunction, row: dict[str, Any]
    ) -> None:
        given: dict[str, Any] = {}

        async def agent(row: dict[str, Any], *, base_url: str, api_key: str, model: str) -> str:
            given.update(row=row, model=model)
            return await asyncio.to_thread(ask, base_url, api_key, model, "Hello")

        ran = await run_function(agent, Settings(api_key="sk-real"), key="sk-real")
        assert given == {"row": {**row, "row_index": 0, "run_index": 0}, "model": "the-model"}
        assert (ran.record.status, ran.body.answer) == (Status.ANSWERED, "Hello")
        assert [(request.turn, request.http_status) for request in ran.record.requests] == [(0, 200)]
        assert [message["content"] for message in ran.body.messages] == ["Hello", "Hello"]

    async def test_gets_only_the_keywords_that_it_takes(self, run_function: RunFunction) -> None:
        async def only_a_row(row: dict[str, str]) -> str:
            return row["topic"]

        async def model_too(row: dict[str, Any], model: str, retries: int = 3) -> str:
            return f"{model} {retries}"

        async def whatever(row: dict[str, Any], **offered: str) -> str:
            return " ".join(sorted(offered))

        assert (await run_function(only_a_row)).body.answer == "sums"
        assert (await run_function(model_too)).body.answer == "the-model 3"
        assert (await run_function(whatever)).body.answer == "api_key base_url model"

    async def test_that_is_plain_runs_off_the_event_loop(self, run_function: RunFunction) -> None:
        def agent(row: dict[str, Any], base_url: str, api_key: str, model: str) -> str:
            assert threading.current_thread() is not threading.main_thread()
            return ask(base_url, api_key, model, "Hello")

        assert (await run_function(agent)).body.answer == "Hello"

    async def test_may_be_an_object_that_is_called(self, run_function: RunFunction) -> None:
        class Agent:
            async def __call__(self, row: dict[str, Any], model: str) -> str:
                return model

        assert (await run_function(Agent())).body.answer == "the-model"

    async def test_may_return_its_conversation(self, run_function: RunFunction) -> None:
        said = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]

        async def agent(row: dict[str, Any]) -> dict[str, Any]:
            return {"messages": said}

        ran = await run_function(agent)
        assert (ran.body.messages, ran.body.answer) == (said, "!")

    @pytest.mark.parametrize(
        ("result", "reason"),
        [
            (None, "the agent 'agent' returned a NoneType"),
            (7, "the agent 'agent' returned a int"),
            ({}, "neither 'answer' nor 'messages'"),
        ],
    )
    async def test_must_return_an_answer(self, run_function: RunFunction, result: Any, reason: str) -> None:
        async def agent(row: dict[str, Any]) -> Any:
            return result

        ran = await run_function(agent)
        assert ran.record.status is Status.EXECUTION_ERROR
        assert reason in str(ran.record.reason)


class TestFailure:
    @staticmethod
    def stubborn(row: dict[str, Any], base_url: str, api_key: str, model: str) -> str:
        for _ in range(9):
            answer = ask(base_url, api_key, model, "Hello")
        return answer

    async def test_of_its_own_code_is_its_own(self, run_function: RunFunction) -> None:
        async def agent(row: dict[str, str]) -> str:
            return row["title"]

        ran = await run_function(agent)
        assert (ran.record.status, ran.record.reason) == (Status.EXECUTION_ERROR, "KeyError: 'title'")

    async def test_of_the_endpoint_is_the_endpoints(self, run_function: RunFunction) -> None:
        ran = await run_function(self.stubborn, Settings(api_key="right"), key="wrong")
        assert ran.record.status is Status.PROVIDER_ERROR
        assert ran.systemic

    async def test_to_keep_to_a_limit_is_told_as_that(self, run_function: RunFunction) -> None:
        ran = await run_function(self.stubborn, limits=TrialLimits(turns=3))
        assert (ran.record.status, len(ran.record.requests)) == (Status.LIMIT, 3)

    async def test_to_end_in_time_is_told_as_a_limit(self, run_function: RunFunction) -> None:
        async def agent(row: dict[str, Any]) -> str:
            await asyncio.sleep(300)
            return "late"

        ran = await run_function(agent, limits=TrialLimits(seconds=0.1))
        assert ran.record.status is Status.LIMIT

    async def test_to_stop_with_its_trial_leads_nowhere(self, run_function: RunFunction) -> None:
        kept: dict[str, str] = {}

        async def agent(row: dict[str, Any], **way: str) -> str:
            kept.update(way)
            with pytest.raises(urllib.error.HTTPError):
                await asyncio.to_thread(ask, **{**kept, "api_key": "another's"}, content="Hello")
            return "done"

        ran = await run_function(agent)
        assert ran.record.requests == []
        with pytest.raises(OSError, match=r"."):
            await asyncio.to_thread(ask, **kept, content="Hello")


class TestTask:
    @pytest.mark.parametrize("function", [lambda: "x", lambda row, other: "x", lambda *, row: "x", 7])
    def test_refuses_what_cannot_be_called_with_a_row(self, tmp_path: Path, function: Any) -> None:
        with pytest.raises(UserError, match="'mine:agent' cannot be called as agent"):
            callable_task(tmp_path, function, (), module="mine:agent")

    def test_is_named_after_the_function(self, tmp_path: Path) -> None:
        assert callable_task(tmp_path, lambda row: "x", (), module="mine:agent").spec.name == "agent"

    def test_has_a_fingerprint_of_the_functions_source(self, project: Callable[[str, str], Path]) -> None:
        path = project("mine.py", "async def agent(row): return 'x'\n")
        function = load_object("mine:agent")
        before = CallableAgent(function, "mine:agent").fingerprint
        assert CallableAgent(function, "mine:agent").fingerprint == before
        path.write_text("async def agent(row): return 'y'\n")
        assert CallableAgent(function, "mine:agent").fingerprint != before


async def test_the_example_takes_the_majority(monkeypatch: pytest.MonkeyPatch, own_imports: None) -> None:
    monkeypatch.chdir(EXAMPLES)
    rows = [json.loads(line) for line in Path("arithmetic.jsonl").read_text().splitlines()]
    answers = keyed_answers({row["user_prompt"]: f"It is {row['ground_truth']}." for row in rows})
    function = load_object("callable_agent:majority")
    task = callable_task(Path("arithmetic.jsonl"), function, (), module="callable_agent:majority")
    ran = await run_trial(task, Settings(answers=answers))
    assert (ran.record.status, ran.body.answer) == (Status.ANSWERED, "391")
    assert len(ran.record.requests) == 3
