"""Several agents with several models in one command: a suite, a table with what each costs, and comparisons by task."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.app.app_kit import Program, trials
from tests.app.eval_kit import Server, logging_server
from tests.catalog.terminal_bench.terminal_kit import write_harbor
from tests.recipes.recipe_kit import write_recipe

from benchwright.analysis.leaderboard.records import BoardRow, Leaderboard
from benchwright.endpoint.simulate import TruthRecord, read_truth

ROWS = 3
MODELS = ("small", "large")
PRICES = ("--price", "small=1,10", "--price", "large=2,20")

PLAIN = "print(ask([{'role': 'user', 'content': prompt}])['content'])"

STREAM = """
def stream(messages, **fields):
    body = json.dumps({"model": "mine", "messages": messages, "stream": True, **fields}).encode()
    token = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, body, token)) as answer:
        answer.read()

task = [{"role": "user", "content": prompt}]
"""

BUSY = f"""{STREAM}
tools = [{{"type": "function", "function": {{"name": "shell", "parameters": {{"type": "object"}}}}}}]
ask([{{"role": "system", "content": "Give a title."}}, *task])
stream(task, tools=tools, stream_options={{"include_usage": True}})
ask(task, tools=tools)
"""
"""Asks for a title, then the task as a stream, and the same once more without streaming."""

LAZY = "ask([{'role': 'user', 'content': 'Something else.'}])"

SILENT = f"{STREAM}stream(task)"
"""Asks for a stream without the count of its tokens."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A user with four agents, rows, and the runs of three of them with both models."""
    program = Program(tmp_path_factory.mktemp("matrix"))
    for name, text in (("plain", PLAIN), ("busy", BUSY), ("lazy", LAZY), ("silent", SILENT)):
        write_recipe(program.home / "recipes", text, name)
    program.rows(ROWS)
    yield program
    program.end()


@pytest.fixture(scope="module")
def server(program: Program) -> Iterator[Server]:
    with logging_server(program.directory / "truth.jsonl") as server:
        yield server


@pytest.fixture(scope="module")
def command(program: Program, server: Server) -> list[str]:
    """The command of the matrix, which has run once."""
    typed = ["eval", "-d", "rows.jsonl", "--scorer", "exact", "--base-url", server.base_url]
    for agent in ("plain", "busy", "lazy"):
        typed += ["--agent", agent]
    for model in MODELS:
        typed += ["--model", model]
    ended = program.run(*typed, "--json")
    assert ended.returncode == 0, ended.stderr
    (program.directory / "first.json").write_text(ended.stdout)
    return typed


@pytest.fixture
def first(program: Program, command: list[str]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((program.directory / "first.json").read_text())
    return document


@pytest.fixture
def board(program: Program, command: list[str]) -> Leaderboard:
    return msgspec.json.decode(table(program, *PRICES, "--json"), type=Leaderboard)


def told(program: Program, *arguments: str) -> str:
    ended = program.run(*arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def row(board: Leaderboard, agent: str, model: str) -> BoardRow:
    (found,) = (one for one in board.rows if (one.agent, one.model) == (f"{agent} 1", model))
    return found


def runs_of(program: Program, agent: str) -> list[Path]:
    return [run for run in program.runs if any(f"-rows-{agent}-{model}-" in run.name for model in MODELS)]


def table(program: Program, *options: str) -> str:
    return told(program, "table", "--suite", "rows-agents", *options)


def truths_of(program: Program, agent: str) -> list[TruthRecord]:
    """What the server's log has of an agent's requests, with both models together."""
    ids = {
        request.id for run in runs_of(program, agent) for trial in trials(run) for request in trial.requests
    }
    return [one for one in read_truth(program.directory / "truth.jsonl") if one.id in ids]


class TestSuite:
    def test_each_agent_works_with_each_model(self, first: dict[str, Any]) -> None:
        assert first["suite"] == "rows-agents"
        assert [(run["model"], run["agent"], run["outcome"]) for run in first["runs"]] == [
            (model, agent, "finished") for model in MODELS for agent in ("plain", "busy", "lazy")
        ]

    def test_the_same_command_goes_on_with_what_is_missing(
        self, program: Program, command: list[str], server: Server
    ) -> None:
        asked = server.asked()
        document = json.loads(told(program, *command, "--json"))
        assert {run["outcome"] for run in document["runs"]} == {"already finished"}
        assert server.asked() == asked

    def test_each_run_has_a_line_that_names_its_agent(self, program: Program, command: list[str]) -> None:
        assert "[2/6] rows with busy, small: already finished, 1.000" in told(program, *command)

    def test_a_file_of_a_suite_may_name_several_agents(
        self, program: Program, server: Server, tmp_path: Path
    ) -> None:
        path = tmp_path / "some.toml"
        path.write_text(
            f'models = ["small"]\n[defaults]\nbase_url = "{server.base_url}"\n[[benchmarks]]\n'
            'dataset = "rows.jsonl"\nscorer = "exact"\nagent = ["plain", "lazy"]\n'
        )
        document = json.loads(told(program, "run", "--suite", str(path), "--dry-run", "--json"))
        assert list(document["benchmarks"]) == ["rows with plain", "rows with lazy"]

    def test_benchmarks_in_containers_are_asked_likewise(self, program: Program, tmp_path: Path) -> None:
        root = write_harbor(tmp_path / "tasks").parent
        typed = ["run", "terminal_bench", "--option", f"path={root}", "--base-url", "http://127.0.0.1:9/v1"]
        typed += ["--agent", "plain", "--agent", "lazy", "--model", "small", "--model", "large"]
        document = json.loads(told(program, *typed, "--dry-run", "--json"))
        assert list(document["benchmarks"]) == ["terminal_bench with plain", "terminal_bench with lazy"]

    def test_an_agent_that_is_unknown_keeps_none_of_the_others(
        self, program: Program, server: Server
    ) -> None:
        typed = [
            "eval",
            "-d",
            "rows.jsonl",
            "--scorer",
            "exact",
            "--base-url",
            server.base_url,
            "--model",
            "m",
        ]
        ended = program.run(*typed, "--agent", "plain", "--agent", "nobody", "--name", "half", "--json")
        assert ended.returncode == 1
        assert [run["outcome"] for run in json.loads(ended.stdout)["runs"]] == ["finished", "failed"]


class TestTable:
    def test_has_a_row_for_each_agent_and_model_with_its_score(self, board: Leaderboard) -> None:
        found = {(one.agent, one.model): one.cells[0].mean for one in board.rows if one.cells[0] is not None}
        assert found == {
            (f"{agent} 1", model): float(agent != "lazy")
            for agent in ("plain", "busy", "lazy")
            for model in MODELS
        }

    @pytest.mark.parametrize("agent", ["plain", "busy", "lazy"])
    def test_requests_and_tokens_are_those_of_the_servers_log(
        self, program: Program, board: Leaderboard, agent: str
    ) -> None:
        rows, truths = [row(board, agent, model) for model in MODELS], truths_of(program, agent)
        assert sum(one.requests for one in rows) == len(truths)
        assert sum(one.prompt_tokens for one in rows) == sum(one.prompt_tokens for one in truths)
        assert sum(one.completion_tokens for one in rows) == sum(one.tokens for one in truths)

    def test_side_requests_are_part_of_it_and_told_apart(self, program: Program, board: Leaderboard) -> None:
        found = row(board, "busy", "small")
        own = [one for trial in trials(runs_of(program, "busy")[0]) for one in trial.requests]
        side = [one for one in own if one.role == "side"]
        assert (found.requests, found.side_requests) == (3 * ROWS, ROWS)
        assert found.side_prompt_tokens == sum(one.prompt_tokens for one in side)
        assert found.side_completion_tokens == sum(one.completion_tokens for one in side)
        assert "of which 3 side requests" in " ".join(table(program, *PRICES).split())

    def test_a_request_that_is_repeated_without_streaming_is_an_attempt_at_the_same_turn(
        self, program: Program, command: list[str]
    ) -> None:
        for trial in trials(runs_of(program, "busy")[0]):
            assert [(one.role, one.turn) for one in trial.requests if one.role == "model"] == [
                ("model", 0)
            ] * 2

    def test_the_cost_of_a_solved_task_is_all_that_was_paid_by_those_that_passed(
        self, board: Leaderboard
    ) -> None:
        for agent in ("plain", "busy"):
            found = row(board, agent, "large")
            paid = (found.prompt_tokens * 2 + found.completion_tokens * 20) / 1e6
            assert found.solved == ROWS
            assert found.cost == pytest.approx(paid)
            assert found.cost_per_solved == pytest.approx(paid / ROWS)

    def test_where_nothing_is_solved_there_is_no_such_cost(
        self, program: Program, board: Leaderboard
    ) -> None:
        assert (row(board, "lazy", "small").solved, row(board, "lazy", "small").cost_per_solved) == (0, None)
        assert table(program, *PRICES, "--format", "markdown").count("none solved") == len(MODELS)

    def test_without_a_price_a_cost_is_unknown(self, program: Program, command: list[str]) -> None:
        shown = table(program, "--price", "small=1,10", "--format", "markdown")
        for line in shown.splitlines():
            if line.startswith("| large with"):
                assert "unknown" in line

    def test_without_a_count_of_tokens_a_cost_is_unknown(self, program: Program, server: Server) -> None:
        typed = ["eval", "-d", "rows.jsonl", "--scorer", "exact", "--base-url", server.base_url]
        told(program, *typed, "--agent", "silent", "--model", "quiet", "--name", "uncounted")
        found = json.loads(told(program, "table", "--name", "uncounted", "--price", "quiet=1,1", "--json"))
        assert "cost" not in found["rows"][0]
        assert found["rows"][0]["uncounted"] == ROWS

    def test_other_formats_have_the_same_figures(self, program: Program, board: Leaderboard) -> None:
        found = row(board, "busy", "small")
        (line,) = (
            one
            for one in csv.DictReader(table(program, *PRICES, "--format", "csv").splitlines())
            if (one["agent"], one["model"]) == ("busy 1", "small")
        )
        assert float(line["cost_per_solved"]) == found.cost_per_solved
        assert int(line["requests"]) == found.requests
        page = table(program, *PRICES, "--format", "html")
        assert f">{found.cost_per_solved:.4g}<" in page
        assert "with <bdi>busy 1</bdi>" in page


class TestComparison:
    def test_is_by_task_across_agents(self, program: Program, command: list[str]) -> None:
        plain, lazy = runs_of(program, "plain")[0], runs_of(program, "lazy")[0]
        found = json.loads(told(program, "compare", plain.name, lazy.name, "--json"))
        assert [run["agent"] for run in found["runs"]] == ["plain 1", "lazy 1"]
        (pair,) = found["pairs"]
        (score,) = pair["scores"]
        assert (score["n"], score["difference"]) == (ROWS, -1.0)
        assert "small with plain 1" in told(program, "compare", plain.name, lazy.name)


def test_the_agent_is_named_with_the_model(program: Program, command: list[str], tmp_path: Path) -> None:
    run = runs_of(program, "busy")[0]
    shown = told(program, "show", run.name)
    assert "small with busy 1  3 trials" in shown
    assert "of which 3 side requests (titles, summaries)" in shown
    assert json.loads(told(program, "show", run.name, "--json"))["targets"][0]["agent"] == "busy 1"
    listed = json.loads(told(program, "runs", "--json"))["runs"]
    assert {"plain", "busy", "lazy"} <= {one.get("agent") for one in listed}
    page = tmp_path / "report.html"
    told(program, "report", run.name, "-o", str(page))
    assert "small with busy 1" in page.read_text()
    rows = tmp_path / "trials.csv"
    told(program, "export", run.name, "-o", str(rows))
    (exported, *_) = csv.DictReader(rows.read_text().splitlines())
    assert (exported["agent"], exported["model"]) == ("busy 1", "small")
    assert (exported["requests"], exported["side_requests"]) == ("2", "1")
