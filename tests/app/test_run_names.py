"""What a run is called: by all that tells it from its neighbours in a list, dataset, agent and model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.app.app_kit import NOWHERE, Program

from benchwright.app.evaluate import prepare_eval
from benchwright.config import EvalSettings
from benchwright.runs.store import run_id

AGENT = "def quick(task):\n    return {'answer': '2'}\n\n\ndef careful(task):\n    return {'answer': '2'}\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a dataset and two agents in a module, in which commands are given."""
    row = {"system_prompt": "Be brief.", "user_prompt": "1 + 1", "ground_truth": "2"}
    (tmp_path / "arithmetic.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "agents_by_name.py").write_text(AGENT)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "main.py").write_text("from fastmcp import FastMCP\n\nmcp = FastMCP('tools')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def name_of(place: Path, **changes: object) -> str:
    given = {"dataset": place / "arithmetic.jsonl", "model": "org/simulated", "base_url": NOWHERE}
    settings = EvalSettings.model_validate({**given, "scorer": ("exact",), **changes})
    return prepare_eval(settings, lambda text: None).request.name


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "arithmetic-simulated"),
        ({"agent_command": "python -u solve.py"}, "arithmetic-solve-simulated"),
        ({"agent_command": "python solve.py --fast"}, "arithmetic-solve-simulated"),
        ({"agent_command": "./bin/solver --fast"}, "arithmetic-solver-simulated"),
    ],
)
def test_dataset_agent_and_model_make_the_name(place: Path, changes: dict[str, object], name: str) -> None:
    (place / "bin").mkdir()
    (place / "bin" / "solver").touch(mode=0o755)
    assert name_of(place, **changes) == name


def test_a_directory_of_tools_is_in_the_name(place: Path) -> None:
    pytest.importorskip("fastmcp")
    assert name_of(place, mcp=place / "tools") == "arithmetic-tools-simulated"


def test_two_agents_on_one_dataset_are_told_apart_in_the_list_of_runs(place: Path, echo: str) -> None:
    program = Program(place)
    for function in ("quick", "careful"):
        module = ["-m", f"agents_by_name:{function}", "-d", "arithmetic.jsonl", "--scorer", "exact"]
        ended = program.run("eval", *module, "--model", "simulated", "--base-url", echo)
        assert ended.returncode == 0, ended.stderr
    program.end()
    quick, careful = (run.name for run in program.runs)
    assert "-arithmetic-agents-by-name-quick-simulated-" in quick
    assert "-arithmetic-agents-by-name-careful-simulated-" in careful
    listed = program.run("runs", "--columns", "id,agent").stdout.splitlines()
    assert [line.split() for line in listed[1:]] == [
        [careful, "agents_by_name:careful"],
        [quick, "agents_by_name:quick"],
    ]


def test_a_usual_name_is_whole() -> None:
    usual = "arithmetic-agents.by.name.careful-qwen3-235b-a22b"
    assert usual.replace(".", "-") in run_id(usual, "0" * 32, 0)
