"""`run swe_bench` and `validate swe_bench` from end to end: a scripted model, real containers, exact scores."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program, trials
from tests.app.benchmark_kit import only_result
from tests.interop.trajectories_kit import COMMAND, mini
from tests.simulated import simulated_endpoint

from benchwright.catalog.asking import assistant
from benchwright.catalog.containers.patch_checks import DONE_MESSAGE, apply_patch_message
from benchwright.catalog.containers.patch_sources import agent_messages
from benchwright.catalog.swe_bench.instance_script import REPOSITORY_DIRECTORY
from benchwright.records import Status

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()


def script(row: dict[str, Any], *replies: dict[str, Any]) -> dict[str, Any]:
    """What the simulated model replies to an instance."""
    opening = agent_messages(row["repo"], REPOSITORY_DIRECTORY, row["problem_statement"])[-1]["content"]
    return {"prompt": opening, "replies": [*replies, assistant(DONE_MESSAGE)]}


def ended(program: Program, *arguments: str) -> tuple[int, str]:
    """The exit code of a command, and what it printed."""
    process = program.start(*arguments)
    out, err = process.communicate(timeout=300)
    return process.returncode, out + err


def run(program: Program, url: str, path: Path, *more: str) -> tuple[int, str]:
    arguments = ("run", "swe_bench", "--model", "m", "--base-url", url, "--option", f"path={path}")
    return ended(program, *arguments, "--output-dir", "results", *more)


def test_a_model_that_solves_one_of_two_instances_scores_a_half(
    program: Program, swe_bench_path: Path, swe_bench_rows: list[dict[str, Any]]
) -> None:
    solved, unsolved = swe_bench_rows
    scripts = [
        script(solved, assistant("```bash\nls\n```"), apply_patch_message(solved["patch"])),
        script(unsolved, assistant("```bash\necho '# a comment' >> greeter.py\n```")),
    ]
    with simulated_endpoint(scripts=scripts) as url:
        code, said = run(program, url, swe_bench_path)
    assert code == 0, said
    result = only_result(program)
    assert (result["accuracy"], result["score"], result["errors"]) == (0.5, 0.5, 0)
    found = {sample["id"]: sample for sample in result["sample_results"]}
    assert {name: sample["correct"] for name, sample in found.items()} == {
        solved["instance_id"]: True,
        unsolved["instance_id"]: False,
    }
    details = found[unsolved["instance_id"]]["details"]
    assert set(details["fail_to_pass_results"].values()) == {False}
    assert details["pass_to_pass_results"] == dict.fromkeys(json.loads(unsolved["PASS_TO_PASS"]), True)
    assert "+# a comment" in details["model_patch"]
    (predictions,) = (program.directory / "results").glob("swe_bench_m_*.predictions.jsonl")
    assert {line["instance_id"] for line in map(json.loads, predictions.read_text().splitlines())} == set(
        found
    )
    _, shown = ended(program, "show", program.only_run.name, "--sample", unsolved["instance_id"])
    assert re.search(
        r"^\$ echo '# a comment' >> greeter\.py\n  exited with 0, (\d+ms|\d+\.\d+s)$", shown, re.M
    )
    assert "\ntests: exited, " in shown
    assert ">>>>> Test Exit Code: 1" in shown


def test_predictions_are_graded_and_the_model_is_not_asked(
    program: Program, swe_bench_path: Path, swe_bench_rows: list[dict[str, Any]]
) -> None:
    predictions = program.directory / "predictions.jsonl"
    entries = [
        {"instance_id": row["instance_id"], "model_name_or_path": "m", "model_patch": row["patch"]}
        for row in swe_bench_rows
    ]
    predictions.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    log = program.directory / "requests.jsonl"
    with simulated_endpoint("--log", str(log)) as url:
        code, said = run(program, url, swe_bench_path, "--option", f"predictions={predictions}")
    assert code == 0, said
    assert [sample["correct"] for sample in only_result(program)["sample_results"]] == [True, True]
    asked = log.read_text().splitlines() if log.exists() else []
    assert [line for line in asked if "chat/completions" in line] == []


def test_the_folder_of_another_program_is_graded_with_its_conversations_and_tokens(
    program: Program, swe_bench_path: Path, swe_bench_rows: list[dict[str, Any]]
) -> None:
    folder = program.directory / "theirs"
    for row, patch in zip(swe_bench_rows, (swe_bench_rows[0]["patch"], ""), strict=True):
        mini(folder, row["instance_id"], patch, "Submitted" if patch else "LimitsExceeded")
    code, said = run(program, "http://127.0.0.1:9/v1", swe_bench_path, "--option", f"predictions={folder}")
    assert code == 0, said
    assert [sample["correct"] for sample in only_result(program)["sample_results"]] == [True, False]
    found = {trial.sample: trial for trial in trials(program.only_run)}
    solved, unsolved = (found[row["instance_id"]] for row in swe_bench_rows)
    assert [one.usage.prompt_tokens for one in solved.requests] == [100, 150]
    assert (unsolved.status, unsolved.reason) == (Status.LIMIT, "LimitsExceeded")
    _, shown = ended(program, "show", program.only_run.name, "--sample", solved.sample)
    assert f'→ bash({{"command": "{COMMAND}"}})' in shown
    _, board = ended(program, "table")
    assert "was made by mini-SWE-agent 2.4.6: its tokens and times are what that wrote down" in board
    _, exported = ended(program, "export", program.only_run.name, "--format", "atif", "-o", "out")
    (first, *_) = sorted(Path(program.directory, "out").rglob("*.json"))
    assert json.loads(first.read_text())["agent"]["name"] == "mini-SWE-agent", exported


def test_validate_plays_right_and_wrong_patches_in_real_containers(
    program: Program, swe_bench_path: Path
) -> None:
    code, said = ended(program, "validate", "swe_bench", "--option", f"path={swe_bench_path}")
    assert code == 0, said
    assert re.search(r"^swe_bench +2 +6 +0 ", said, re.MULTILINE), said


def test_without_an_engine_one_line_says_so_before_the_model_is_asked(
    program: Program, swe_bench_path: Path
) -> None:
    log = program.directory / "requests.jsonl"
    program.environment["DOCKER_HOST"] = f"unix://{program.directory}/no.sock"
    with simulated_endpoint("--log", str(log)) as url:
        code, said = run(program, url, swe_bench_path)
    assert code == 1
    assert "Traceback" not in said
    assert "docker" in said.lower()
    asked = log.read_text().splitlines() if log.exists() else []
    assert [line for line in asked if "chat/completions" in line] == []
