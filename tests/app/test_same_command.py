"""The same command again: an unfinished run goes on, a finished one is shown, another one is another run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import NOWHERE, Program, finished, trials
from tests.app.eval_kit import CACHED, summary_in
from tests.simulated import simulated_endpoint

from benchwright.app.evaluate import prepare_eval
from benchwright.app.run_lookup.eval_cache import EvalCacheLookup
from benchwright.cli.progress import retried_message
from benchwright.config import EvalSettings
from benchwright.records import Status
from benchwright.runs.journal import TRIALS_FILE
from benchwright.runs.manifest import read_manifest


def test_a_finished_run_is_shown_and_not_run_again(program: Program, echo: str) -> None:
    command = program.evaluating(program.rows(5), echo)
    first = program.run(*command)
    journal = (program.only_run / TRIALS_FILE).read_bytes()
    second = program.run(*command)
    assert (first.returncode, second.returncode) == (0, 0)
    assert CACHED in second.stdout
    assert summary_in(second.stdout) == summary_in(first.stdout)
    assert (program.only_run / TRIALS_FILE).read_bytes() == journal


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


def test_other_rows_of_the_same_file_are_another_run(program: Program, echo: str) -> None:
    rows = program.rows(6)
    first = program.summary(*program.evaluating(rows, echo, "--limit=3"))
    others = program.summary(*program.evaluating(rows, echo, "--limit=3", "--offset=3"))
    assert (first.done, others.done) == (3, 3)
    assert [trial.sample for run in program.runs for trial in trials(run)] == ["0", "1", "2", "3", "4", "5"]


def identity(directory: Path, **settings: Any) -> str:
    """What makes a run the run it is: three rows of four by exact match, with these settings changed."""
    rows = ({"prompt": f"p{n}", "answer": f"p{n}", "other": "x"} for n in range(4))
    dataset = directory / "rows.jsonl"
    dataset.write_text("".join(json.dumps(row) + "\n" for row in rows))
    plain: dict[str, Any] = {
        "dataset": dataset,
        "scorer": ("exact",),
        "limit": 3,
        "model": "m",
        "base_url": NOWHERE,
    }
    lookup = prepare_eval(EvalSettings(**{**plain, **settings}), say=print).lookup
    assert isinstance(lookup, EvalCacheLookup)
    return lookup.task_id


@pytest.mark.parametrize(
    "changed",
    [
        {"limit": 2},
        {"offset": 1},
        {"n": 2},
        {"temperature": 0.5},
        {"max_tokens": 5},
        {"seed": 1},
        {"param": {"top_p": 0.9}},
        {"system": "Be brief."},
        {"template": "Say: {prompt}"},
        {"column": {"target": "other"}},
        {"group_by": "other"},
        {"scorer": ("regex",)},
        {"scorer": ("exact", "regex")},
        {"scorer_option": {"strict": "true"}},
        {"pass_threshold": 0.5},
        {"trial_tokens": 1000},
        {"trial_seconds": 10},
        {"model": "another"},
        {"base_url": "http://127.0.0.1:10/v1"},
    ],
    ids=lambda changed: ", ".join(f"{name}={value}" for name, value in changed.items()),
)
def test_what_changes_the_result_makes_another_run(tmp_path: Path, changed: dict[str, Any]) -> None:
    assert identity(tmp_path, **changed) != identity(tmp_path)


@pytest.mark.parametrize(
    "changed",
    [
        {"concurrency": 4},
        {"retries": 1},
        {"timeout": 9},
        {"budget_tokens": 100_000},
        {"budget_seconds": 10},
        {"fsync": "always"},
        {"base_url": NOWHERE + "/"},
        {"api_key": "sk-another-key"},
    ],
    ids=lambda changed: ", ".join(f"{name}={value}" for name, value in changed.items()),
)
def test_how_it_is_carried_out_does_not(tmp_path: Path, changed: dict[str, Any]) -> None:
    assert identity(tmp_path, **changed) == identity(tmp_path)


def test_a_dataset_that_changed_is_another_run(program: Program, echo: str) -> None:
    command = program.evaluating(program.rows(3), echo)
    program.summary(*command)
    program.write("rows.jsonl", '{"prompt": "new", "answer": "new"}\n')
    assert program.summary(*command).done == 1
    assert len(program.runs) == 2


def test_a_dataset_that_was_moved_keeps_its_conversations_with_reuse(program: Program, echo: str) -> None:
    command = program.evaluating(program.rows(3), echo)
    program.summary(*command)
    (program.directory / "data").mkdir()
    (program.directory / "rows.jsonl").rename(program.directory / "data" / "rows.jsonl")
    command[command.index("rows.jsonl")] = "data/rows.jsonl"
    moved = program.summary(*command, "--reuse")
    assert (moved.done, moved.targets[0].reused, moved.targets[0].requests.total_requests) == (3, 3, 0)


def test_a_budget_stops_a_run_and_the_same_command_goes_on(program: Program, echo: str) -> None:
    command = program.evaluating(program.rows(10), echo, "--budget-tokens=8")
    ended = program.run(*command)
    assert ended.returncode == 1
    assert "Error: the budget of 8 tokens is used up" in ended.stderr
    done = len(finished(program.only_run))
    assert 0 < done < 10
    assert f"Progress: {done}/10 runs." in ended.stderr
    assert "Re-run the same command to resume from where you left off." in ended.stderr
    for _ in range(10):
        if program.run(*command).returncode == 0:
            break
    assert len(trials(program.only_run)) == 10


def test_a_stop_and_the_next_start_count_alike_where_a_provider_failed(program: Program) -> None:
    """A trial whose provider failed is done, as every list of runs counts it, and the next start asks it again."""
    with simulated_endpoint("--fault=server_error=0.5", "--seed=3") as url:
        command = program.evaluating(program.rows(20), url, "--budget-tokens=8", "--retries=0")
        stopped = program.run(*command)
        trials_done = trials(program.only_run)
        resumed = program.run(*command)
    done = len(trials_done)
    failed = sum(trial.status is Status.PROVIDER_ERROR for trial in trials_done)
    assert 1 <= failed < done < 20, "some of each kind, or this says nothing"
    assert f"Progress: {done}/20 runs." in stopped.stderr
    assert f"Resuming eval ({done}/20 runs completed)" in resumed.stdout
    assert f"\n{retried_message(failed)}.\n" in resumed.stdout


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
