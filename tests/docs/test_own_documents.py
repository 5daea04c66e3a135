"""The evaluations of README.md and docs/eval.md come to the numbers that must come out.

The model is the simulated endpoint with an answer key and an accuracy of 1, so that the right score of every
example is known beforehand: 1. Addresses are replaced by those of the servers of the test, nothing else.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.programs import run_benchwright
from tests.simulated import simulated_endpoint

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = 30
SUMS = 24


def commands(document: str) -> list[str]:
    """The shell commands of a document's ```bash blocks, continued lines joined, comments taken off."""
    text = (ROOT / document).read_text(encoding="utf-8")
    blocks = re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [re.sub(r"\s+#.*", "", " ".join(line.split())) for line in lines if line.strip()]


EXAMPLES = [(document, line) for document in ("README.md", "docs/eval.md") for line in commands(document)]
EVALS = [
    pytest.param(line, id=f"{document}: {line[12:60]}")
    for document, line in EXAMPLES
    if line.startswith("benchwright eval -")
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with everything that the examples name."""
    place = tmp_path_factory.mktemp("documents")
    for name in (
        *("agent.py", "command_agent.py", "callable_agent.py", "rewards.py"),
        *("arithmetic.jsonl", "questions.jsonl"),
    ):
        shutil.copy(ROOT / "examples" / name, place / name)
    shutil.copy(place / "arithmetic.jsonl", place / "data.jsonl")
    shutil.copytree(ROOT / "examples" / "mcp", place / "mcp", ignore=shutil.ignore_patterns("__pycache__"))
    (scorer,) = re.findall(
        r"^```python\n(def mentions.*?)^```", (ROOT / "docs/eval.md").read_text(), re.M | re.S
    )
    (place / "my_scorers.py").write_text(scorer)
    (place / "my_agent.py").write_text("from agent import CalculatorAgent as MyAgent\n")
    with (place / "rewards.py").open("a") as file:
        file.write("\n\nscore = right_number\n")
    (place / "rows.csv").write_text("task,gold\nHow much is 6 times 7?,42\nWhat is 9 minus 4?,5\n")
    text = (ROOT / "docs/eval.md").read_text()
    (settings,) = (toml for toml in re.findall(r"^```toml\n(.*?)^```", text, re.M | re.S) if "[eval]" in toml)
    (place / "eval.toml").write_text(settings)
    return place


@pytest.fixture(scope="module")
def addresses(place: Path) -> Iterator[dict[str, str]]:
    """The servers behind the addresses of the documents: the model, and the judge, which always gives 1."""
    key: list[dict[str, Any]] = [
        {"prompt": row["question"], "answer": row["answer"]} for row in rows(place / "questions.jsonl")
    ]
    key += [
        {
            "prompt": row["user_prompt"],
            "answer": row["ground_truth"],
            "tool_calls": [{"name": "calculate", "arguments": {"expression": row["expression"]}}],
        }
        for row in rows(place / "arithmetic.jsonl")
    ]
    key += [{"prompt": "6 times 7", "answer": "42"}, {"prompt": "9 minus 4", "answer": "5"}]
    verdict = [{"prompt": "<<TASK", "answer": "SCORE: 1"}]
    with simulated_endpoint(answers=key) as model, simulated_endpoint(answers=verdict) as judge:
        yield {"http://localhost:8000/v1": model, "http://localhost:9000/v1": judge}


def rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def run(line: str, place: Path, addresses: dict[str, str], *more: str) -> subprocess.CompletedProcess[str]:
    toml = place / "eval.toml"
    for documented, actual in addresses.items():
        line = line.replace(documented, actual)
        toml.write_text(toml.read_text().replace(documented, actual))
    environment = {**os.environ, "BENCHWRIGHT_HOME": str(place / "home")}
    return run_benchwright([*shlex.split(line)[1:], *more], directory=place, environment=environment)


@pytest.mark.parametrize("line", EVALS)
def test_an_eval_of_the_documents_scores_1_over_all_its_rows(
    line: str, place: Path, addresses: dict[str, str]
) -> None:
    done = run(line, place, addresses, "--json", *([] if "--reuse" in line else ["--fresh"]))
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    repeats = int(match[1]) if (match := re.search(r"--n (\d+)", line)) else 1
    limit = int(match[1]) if (match := re.search(r"--limit (\d+)", line)) else None
    size = 2 if "rows.csv" in line else SUMS if "--eval-fn" in line else QUESTIONS
    assert summary["state"] == "finished"
    assert summary["simulated"] is True
    others = ["baseline"] if "--baseline-model" in line else ["model-2"] if line.count("--model ") > 1 else []
    assert [target["slot"] for target in summary["targets"]] == ["primary", *others]
    for target in summary["targets"]:
        (score,) = target["scores"]
        assert target["trials"] == min(size, limit or size) * repeats
        assert target["statuses"] == {"scored": target["trials"]}
        assert score["mean"] == score["mean_scored"] == 1.0
    assert "Run: " in done.stderr


def test_the_files_of_the_documents_hold_every_run(place: Path, addresses: dict[str, str]) -> None:
    (line,) = [line for _, line in EXAMPLES if "--log-samples" in line]
    line = line.replace("my-model", "written-model")
    assert run(line, place, addresses).returncode == 0
    results = json.loads((place / "results.json").read_text())
    assert results["summary"]["total_rows"] == QUESTIONS
    assert results["summary"]["eval_fns"]["mcq"]["mean"] == 1.0
    (structured,) = (place / "results" / "written-model" / "questions").glob("results_*.json")
    assert json.loads(structured.read_text())["status"] == "completed"
    (samples,) = (place / "results" / "written-model" / "questions").glob("samples_*.jsonl")
    assert len(samples.read_text().splitlines()) == QUESTIONS


def test_a_larger_limit_with_reuse_asks_only_for_the_rest(place: Path, addresses: dict[str, str]) -> None:
    smaller, larger = (line for _, line in EXAMPLES if line.endswith(("--limit 10", "--reuse")))
    run(smaller.replace("my-model", "reused-model"), place, addresses)
    done = run(larger.replace("my-model", "reused-model"), place, addresses, "--json")
    (target,) = json.loads(done.stdout)["targets"]
    assert (target["reused"], target["trials"]) == (10, QUESTIONS)
    assert target["requests"]["total_requests"] == QUESTIONS - 10


def test_the_runs_are_listed_and_shown_afterwards(place: Path, addresses: dict[str, str]) -> None:
    first = run("benchwright eval -d questions.jsonl --scorer mcq --model shown --fresh --base-url "
                "http://localhost:8000/v1", place, addresses, "--json")  # fmt: skip
    identity = json.loads(first.stdout)["run"]
    assert identity in run("benchwright runs --columns id", place, addresses).stdout
    listed = json.loads(run("benchwright runs --json", place, addresses).stdout)["runs"]
    assert listed[0]["manifest"]["id"] == identity
    shown = json.loads(run(f"benchwright show {identity} --json", place, addresses).stdout)
    (view,) = shown.pop("joint")
    assert view["judged"]["trials"] == QUESTIONS
    assert shown == json.loads(first.stdout)
    spoken = run(f"benchwright show {identity} --row 3", place, addresses).stdout
    assert rows(place / "questions.jsonl")[3]["question"] in spoken


def test_the_cache_is_shown(place: Path, addresses: dict[str, str]) -> None:
    directory = run("benchwright cache dir", place, addresses).stdout.strip()
    assert directory == str((place / "home" / "cache" / "eval").resolve())
    run("benchwright eval -d questions.jsonl --scorer mcq --model cached-model --base-url "
        "http://localhost:8000/v1", place, addresses)  # fmt: skip
    assert "cached-model\tquestions" in run("benchwright cache list", place, addresses).stdout


def test_the_schema_knows_every_setting_of_the_file(place: Path, addresses: dict[str, str]) -> None:
    schema = json.loads(run("benchwright schema", place, addresses).stdout)
    settings = tomllib.loads((place / "eval.toml").read_text())
    assert settings.keys() <= schema["properties"].keys()
    assert settings["eval"].keys() <= schema["properties"]["eval"]["properties"].keys()
