"""Agents by recipes over rows: real processes against a real (simulated) endpoint."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.agents.outside_kit import Ran, run_trial, write_rows
from tests.recipes.recipe_kit import write_recipe

from benchwright.agents.recipe_task import recipe_task
from benchwright.endpoint.simulate import Faults, Settings
from benchwright.engine import agent_requests
from benchwright.errors import UserError
from benchwright.recipes.recipe import read_recipe
from benchwright.recipes.recipe_lookup import find_recipe
from benchwright.records import Status, TrialLimits

RunAgent = Callable[..., Coroutine[Any, Any, Ran]]

ANSWER = "ask([{'role': 'user', 'content': prompt}])\n"


@pytest.fixture
def run_agent(tmp_path: Path) -> RunAgent:
    """Runs one trial of an agent that is this Python program, with `prompt` and `ask(messages)`."""

    async def run(
        program: str,
        *arguments: Any,
        row: dict[str, Any] | None = None,
        recipe: dict[str, Any] | None = None,
        **options: Any,
    ) -> Ran:
        path = write_recipe(tmp_path / "recipes", program, **(recipe or {}))
        rows = write_rows(tmp_path / "rows.jsonl", {"question": "Hello", "answer": "Hello", **(row or {})})
        return await run_trial(recipe_task(rows, read_recipe(path), ()), *arguments, **options)

    return run


class TestAgent:
    async def test_answers_with_what_its_model_said_last(self, run_agent: RunAgent) -> None:
        ran = await run_agent(ANSWER + "print('this is not the answer')")
        assert (ran.record.status, ran.body.answer) == (Status.ANSWERED, "Hello")
        assert ran.body.artifacts["output"] == "this is not the answer\n"
        assert ran.body.artifacts["agent"] == "mine 1"

    async def test_gets_the_rows_prompts_as_one_task(self, run_agent: RunAgent) -> None:
        ran = await run_agent(ANSWER, row={"system_prompt": "Be brief."})
        assert ran.body.messages[0]["content"] == "Be brief.\n\nHello"

    async def test_works_in_a_folder_with_the_rows_files_and_what_it_writes_is_kept(
        self, run_agent: RunAgent
    ) -> None:
        program = (
            ANSWER + "pathlib.Path('out.txt').write_text(pathlib.Path('src/in.txt').read_text().upper())"
        )
        ran = await run_agent(program, row={"files": {"src/in.txt": "hello"}})
        assert ran.body.artifacts["files"] == {"src/in.txt": "hello", "out.txt": "HELLO"}

    async def test_keeps_what_it_writes_down_in_its_home_and_nothing_else_of_it(
        self, run_agent: RunAgent
    ) -> None:
        program = ANSWER + (
            "home = pathlib.Path(os.environ['HOME'])\n"
            "(home / 'sessions').mkdir()\n"
            "(home / 'sessions/1.jsonl').write_text('said')\n"
            "(home / 'cache').write_text('no')"
        )
        ran = await run_agent(program, recipe={"records": ["sessions/*.jsonl"]})
        assert ran.body.artifacts["records"] == {"sessions/1.jsonl": "said"}
        assert ran.body.artifacts["files"] == {}

    async def test_finds_nothing_to_read_on_stdin(self, run_agent: RunAgent) -> None:
        ran = await run_agent(ANSWER + "print(repr(sys.stdin.read()))")
        assert ran.body.artifacts["output"] == "''\n"

    async def test_knows_no_variable_of_ours_that_could_hold_a_key(
        self, run_agent: RunAgent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-the-real-one")
        monkeypatch.setenv("ANTHROPIC_MODEL", "another-model")
        program = ANSWER + "print(json.dumps(dict(os.environ)))"
        ran = await run_agent(program, Settings(api_key="sk-the-real-one"), key="sk-the-real-one")
        environment = json.loads(ran.body.artifacts["output"])
        assert ran.record.status is Status.ANSWERED
        assert "sk-the-real-one" not in environment.values()
        assert "ANTHROPIC_MODEL" not in environment
        assert environment["OPENAI_MODEL"] == "the-model"

    @pytest.mark.parametrize(
        ("program", "reason"),
        [
            ("print('Done!')", "the agent ended without an answer of the model"),
            (ANSWER + "sys.exit('it broke')", "the program ended with exit status 1: it broke"),
            ("sys.exit(3)", "the program ended with exit status 3"),
        ],
    )
    async def test_that_fails_is_no_wrong_answer(
        self, run_agent: RunAgent, program: str, reason: str
    ) -> None:
        ran = await run_agent(program)
        assert (ran.record.status, ran.record.reason) == (Status.EXECUTION_ERROR, reason)

    async def test_whose_provider_fails_is_a_failure_of_the_provider_whatever_its_exit_status(
        self, run_agent: RunAgent
    ) -> None:
        program = "try:\n    " + ANSWER + "except urllib.error.HTTPError:\n    pass"
        ran = await run_agent(program, Settings(faults=Faults(server_error=1.0)))
        assert ran.record.status is Status.PROVIDER_ERROR

    async def test_with_files_outside_of_its_folder_is_not_started(self, run_agent: RunAgent) -> None:
        ran = await run_agent(ANSWER, row={"files": {"../x": "1"}})
        assert ran.record.status is Status.EXECUTION_ERROR
        assert "lies outside of the agent's folder" in (ran.record.reason or "")


class TestLimits:
    async def test_an_agent_that_goes_on_asking_is_ended(
        self, run_agent: RunAgent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(agent_requests, "LIMIT_GRACE_SECONDS", 0.5)
        program = (
            "while True:\n"
            "    try:\n"
            "        ask([{'role': 'user', 'content': prompt}])\n"
            "    except urllib.error.HTTPError:\n"
            "        time.sleep(0.05)\n"
        )
        began = time.monotonic()
        ran = await run_agent(program, limits=TrialLimits(turns=2))
        assert time.monotonic() - began < 20
        assert (ran.record.status, len(ran.record.requests)) == (Status.LIMIT, 2)

    async def test_nothing_of_it_is_left_after_its_time(self, run_agent: RunAgent, tmp_path: Path) -> None:
        sign = tmp_path / "alive"
        program = (
            f"subprocess.Popen(['sh', '-c', 'while :; do date +%s%N > {sign}; sleep 0.05; done'])\n"
            "time.sleep(60)"
        )
        ran = await run_agent(program, limits=TrialLimits(seconds=2))
        assert ran.record.status is Status.LIMIT
        last = sign.read_text()
        time.sleep(0.3)
        assert sign.read_text() == last


def test_an_agent_that_is_not_installed_says_how_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path))
    rows = write_rows(tmp_path / "rows.jsonl", {"question": "Hello", "answer": "Hello"})
    with pytest.raises(UserError, match="run `benchwright agents install codex`"):
        recipe_task(rows, find_recipe("codex"), ())
