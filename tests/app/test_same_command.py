"""The same command again: an unfinished run goes on, a finished one is shown, another one is another run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from app_kit import Program, finished, trials

from benchwright.engine.journal import TRIALS
from benchwright.engine.manifest import read_manifest

CACHED = "Evaluation already completed (cached). Use --fresh to run it again from scratch."


def test_a_finished_run_is_shown_and_not_run_again(program: Program, echo: str) -> None:
    command = program.evaluating(program.rows(5), echo)
    first = program.run(*command)
    journal = (program.only_run / TRIALS).read_bytes()
    second = program.run(*command)
    assert (first.returncode, second.returncode) == (0, 0)
    assert CACHED in second.stderr
    assert second.stdout == first.stdout
    assert (program.only_run / TRIALS).read_bytes() == journal


def test_fresh_makes_a_new_run_and_leaves_the_old_one(program: Program, echo: str) -> None:
    command = program.evaluating(program.rows(3), echo)
    program.summary(*command)
    summary = program.summary(*command, "--fresh")
    old, new = program.runs
    assert len(trials(old)) == len(trials(new)) == 3
    assert summary.run == new.name


def test_after_fresh_the_same_command_shows_the_new_run(program: Program, echo: str) -> None:
    command = program.evaluating(program.rows(3), echo)
    program.summary(*command)
    fresh = program.summary(*command, "--fresh")
    assert program.summary(*command).run == fresh.run


@pytest.mark.parametrize(
    "more",
    [
        ["--limit=2"],
        ["--offset=1"],
        ["--limit=2", "--offset=1"],
        ["--limit=2", "--offset=2"],
        ["--n=2"],
        ["--temperature=0.5"],
        ["--param=top_p=0.9"],
        ["--system=Be brief."],
        ["--template=Say: {prompt}"],
        ["--scorer=regex"],
        ["--column=target=other"],
        ["--pass-threshold=0.5"],
        ["--trial-tokens=1000"],
        ["--model=another"],
    ],
    ids=lambda more: " ".join(more),
)
def test_what_changes_the_result_is_another_run(program: Program, echo: str, more: list[str]) -> None:
    """Each of these against the plain command, which asks for three of the rows."""
    program.write(
        "rows.jsonl",
        "".join(json.dumps({"prompt": f"p{n}", "answer": f"p{n}", "other": "x"}) + "\n" for n in range(4)),
    )
    plain = program.evaluating("rows.jsonl", echo, "--limit=3")
    program.summary(*plain)
    program.summary(*plain, *more)
    assert len(program.runs) == 2


@pytest.mark.parametrize(
    "more", [["--batch-size=4"], ["--retries=1"], ["--timeout=9"], ["--budget-tokens=100000"]]
)
def test_how_it_is_carried_out_does_not_make_another_run(
    program: Program, echo: str, more: list[str]
) -> None:
    command = program.evaluating(program.rows(3), echo)
    program.summary(*command)
    assert CACHED in program.run(*command, *more).stderr


def test_a_dataset_that_changed_is_another_run(program: Program, echo: str) -> None:
    command = program.evaluating(program.rows(3), echo)
    program.summary(*command)
    program.write("rows.jsonl", '{"prompt": "new", "answer": "new"}\n')
    assert program.summary(*command).done == 1
    assert len(program.runs) == 2


def test_a_dataset_that_was_moved_is_the_same_run(program: Program, echo: str) -> None:
    command = program.evaluating(program.rows(3), echo)
    program.summary(*command)
    (program.directory / "data").mkdir()
    (program.directory / "rows.jsonl").rename(program.directory / "data" / "rows.jsonl")
    command[command.index("rows.jsonl")] = "data/rows.jsonl"
    assert CACHED in program.run(*command).stderr


def test_a_budget_stops_a_run_and_the_same_command_goes_on(program: Program, echo: str) -> None:
    command = program.evaluating(program.rows(10), echo, "--budget-tokens=8")
    ended = program.run(*command)
    assert ended.returncode == 1
    assert "Stopped: the budget of 8 tokens is used up" in ended.stderr
    done = len(finished(program.only_run))
    assert 0 < done < 10
    assert f"{10 - done} trials are left. Run the same command again to go on from here." in ended.stderr
    for _ in range(10):
        if program.run(*command).returncode == 0:
            break
    assert len(trials(program.only_run)) == 10


def test_a_run_records_what_it_is_and_no_key(program: Program, echo: str) -> None:
    key = "sk-never-to-be-seen-0123456789"
    command = program.evaluating(program.rows(2), echo, "--temperature=0.5", "--api-key", key)
    ended = program.run(*command, "--debug")
    assert ended.returncode == 0
    manifest = read_manifest(program.only_run)
    assert manifest.targets[0].settings == {"temperature": 0.5}
    assert manifest.data[0].samples == 2
    assert {"benchwright", "python", "msgspec", "numpy"} <= manifest.versions.keys()
    assert manifest.host["processors"] >= 1
    assert manifest.client["stream"] is True
    assert_nowhere(key, program.home, ended.stdout, ended.stderr)


def test_a_key_from_the_environment_is_not_seen_either_though_the_model_says_it(
    program: Program, echo: str
) -> None:
    """The endpoint says what it is asked, and here it is asked with the key in the prompt."""
    key = "sk-from-the-environment-0123456789"
    program.write("rows.jsonl", json.dumps({"prompt": f"Is it {key}?", "answer": "yes"}) + "\n")
    ended = program.run(*program.evaluating("rows.jsonl", echo, "--debug"), BENCHWRIGHT_API_KEY=key)
    assert ended.returncode == 0
    assert_nowhere(key, program.home, ended.stdout, ended.stderr)
    assert b"Is it [secret]?" in (program.only_run / "bodies.jsonl").read_bytes()


def assert_nowhere(key: str, directory: Path, *texts: str) -> None:
    files = [file for file in directory.rglob("*") if file.is_file()]
    assert files
    for file in files:
        assert key.encode() not in file.read_bytes(), file
    assert all(key not in text for text in texts)
