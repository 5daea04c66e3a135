"""`run bfcl` with categories of the memory: conversations, questions and exact scores, resumed and with repeats."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program, one_line_of, trials
from tests.catalog.bfcl.memory_kit import QUESTIONS, simulate_library, write_memories
from tests.http_server import QuietHandler, served_by

from benchwright.api.benchmarking import run_benchmark
from benchwright.runs.journal import read_body

SUBJECTS = {"name": "Ada", "live": "Rome", "have": "cat", "due": "tax"}
"""What a question is about, and what was said of it."""


class ModelServer:
    """Its address, what it was told and asked, and a question on which it fails as long as `broken` names it."""

    def __init__(self) -> None:
        self.base_url = ""
        self.told: list[str] = []
        self.asked: list[str] = []
        self.broken = ""

    def message(self, body: dict[str, Any]) -> dict[str, Any] | None:
        """A model that remembers what it is told, and answers from what it sees of its memory."""
        memory, last = body["messages"][0]["content"], body["messages"][-1]
        if last["role"] == "tool" or not last["content"].endswith("?"):
            return self._remembering(body) if last["role"] == "user" else said("Noted.")
        self.asked.append(last["content"])
        if last["content"] == self.broken:
            return None
        (about,) = (word for word in SUBJECTS if word in last["content"])
        known = SUBJECTS[about] in memory.partition("previous interactions:")[2]
        return said(json.dumps({"answer": SUBJECTS[about] if known else "I do not know"}))

    def _remembering(self, body: dict[str, Any]) -> dict[str, Any]:
        text = body["messages"][-1]["content"]
        self.told.append(text)
        function = body["tools"][0]["function"]
        key = re.sub(r"[^a-z]+", "_", text.lower()).strip("_")
        said = {"text": text, "key": key, "value": text}
        arguments = json.dumps({name: said[name] for name in function["parameters"]["properties"]})
        call = {"id": "c", "type": "function", "function": {"name": function["name"], "arguments": arguments}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


@contextmanager
def model_server() -> Iterator[ModelServer]:
    server = ModelServer()

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            message = server.message(body)
            if message is None:
                self.answer(400, b'{"error": {"message": "broken"}}')
                return
            finished = "tool_calls" if message.get("tool_calls") else "stop"
            choice = {"index": 0, "message": message, "finish_reason": finished}
            whole = {"id": "c", "object": "chat.completion", "created": 0, "model": body["model"]}
            self.answer(200, json.dumps({**whole, "choices": [choice]}).encode())

        def do_GET(self) -> None:
            self.answer(200, b'{"data": [{"id": "m"}]}')

    with served_by(Handler) as address:
        server.base_url = f"{address}/v1"
        yield server


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.fixture
def command(program: Program, server: ModelServer) -> list[str]:
    write_memories(program.directory / "data" / "bfcl")
    return ["run", "bfcl", "--model", "m", "--base-url", server.base_url, "--no-stream", "--no-probe", "-q"]


def test_scores_are_exact_and_conversations_are_played_once(
    program: Program, server: ModelServer, command: list[str]
) -> None:
    ended = program.run(*command, "--option", "categories=memory_kv,memory_rec_sum", "--json")
    assert ended.returncode == 0, ended.stderr
    (benchmark,) = json.loads(ended.stdout)["benchmarks"]
    figures = {one["name"]: one.get("value") for one in benchmark["figures"]}
    assert (figures["category memory_kv"], figures["category memory_rec_sum"]) == (0.75, 0.75)
    assert figures["group memory"] == 0.75
    assert sorted(server.told) == sorted(
        2 * ["My name is Ada.", "I live in Rome.", "I have a cat.", "The tax is due."]
    )
    assert len(server.asked) == 2 * len(QUESTIONS)


def test_what_failed_is_asked_again_with_the_memory_of_the_others(
    program: Program, server: ModelServer, command: list[str]
) -> None:
    server.broken = "Where do I live?"
    command += ["--option", "categories=memory_rec_sum", "--n", "2"]
    program.run(*command)
    told, server.broken = list(server.told), ""
    assert program.run(*command, "--retry-failed").returncode == 0
    assert server.told == told
    assert len(told) == 2 * 4
    (run,) = program.runs
    memories = {
        (trial.labels["scenario"], trial.repeat, read_body(run, trial).artifacts["memory"]["memory"])
        for trial in trials(run)
        if "memory" in read_body(run, trial).artifacts
    }
    assert len(memories) == 4


def test_a_memory_of_vectors_with_a_simulated_library(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))
    simulate_library(monkeypatch, tmp_path)
    write_memories(tmp_path / "bfcl")
    ran = run_benchmark(
        "bfcl", "m", base_url=server.base_url, data_dir=tmp_path, option={"categories": "memory_vector"}
    )
    (report,) = ran.reports
    figures = {one.name: one.value for one in report.figures}
    assert (ran.accuracy, figures["category memory_vector"], figures["group memory"]) == (0.75, 0.75, 0.75)
    assert len(server.asked) == len(QUESTIONS)


def test_it_runs_in_one_process(program: Program, command: list[str]) -> None:
    ended = program.run(*command, "--option", "categories=memory_kv", "--workers", "2")
    assert "run in one process: remove --workers" in one_line_of(ended.stderr)
