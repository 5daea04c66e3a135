"""The cache file is enough by itself: where the run's directory is gone, the same command goes on from the file."""

from __future__ import annotations

import json
import shutil
import signal
from typing import Any

import pytest
from tests.app.app_kit import trials
from tests.app.eval_kit import CACHED, ROWS, Project, Server, read_json, read_lines

CHANGING = ("updated_at", "run")
"""What a cache file says of itself only."""


def lose_the_runs(project: Project) -> None:
    """What a machine does that keeps the cache directory only."""
    shutil.rmtree(project.program.home / "runs")


def kept(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in CHANGING}


BASELINE = ["--baseline-model=b", "--n=2", "--batch-size=4"]


@pytest.mark.parametrize("more", [[], ["--n=3"], BASELINE])
def test_a_completed_eval_is_shown_with_the_same_figures(
    project: Project, server: Server, more: list[str]
) -> None:
    if "--baseline-model=b" in more:
        more = [*more, f"--baseline-base-url={server.base_url}"]
    command = project.command(server.base_url, "--eval-fn=rewards:half", *more)
    project.program.write("broken", "")  # row 0 fails
    project.run(*command, "-o", "before.json")
    before, asked = project.entry, server.asked()
    lose_the_runs(project)
    ended = project.run(*command, "-o", "after.json")
    assert CACHED in ended.stdout
    assert server.asked() == asked, "nothing was asked"
    assert kept(project.entry) == kept(before)
    directory = project.program.directory
    assert read_json(directory / "after.json") == read_json(directory / "before.json")


def test_it_is_said_and_every_trial_is_marked(project: Project, server: Server) -> None:
    command = project.command(server.base_url)
    project.run(*command)
    run, (path,) = project.program.only_run.name, project.entries
    lose_the_runs(project)
    ended = project.run(*command)
    assert ended.stderr == (
        f"The run of {path.name} no longer exists; 6 results are taken over from the file, "
        "without conversations and timings.\n"
    )
    assert "6 reused from earlier runs" in ended.stdout
    assert "SIMULATED: the answers are not from a model." in ended.stdout
    assert "lost" not in ended.stdout
    assert {trial.reused_from for trial in trials(project.program.only_run)} == {run}
    assert [trial.tokens for trial in trials(project.program.only_run)] == [3] * ROWS
    shown = project.run("show", project.program.only_run.name, "--row", "1").stdout
    assert "The conversation was not kept." in shown
    project.run("export", project.program.only_run.name, "-o", "trials.jsonl")
    exported = read_lines(project.program.directory / "trials.jsonl")
    assert [(one["started_at"], one["reused"], one["score.rewards:right"]) for one in exported] == [
        (None, True, float(row % 3 != 0)) for row in range(ROWS)
    ]


def test_the_next_command_finds_the_restored_run(project: Project, server: Server) -> None:
    command = project.command(server.base_url)
    project.run(*command)
    lose_the_runs(project)
    project.run(*command)
    again = project.run(*command)
    assert CACHED in again.stdout
    assert again.stderr == ""
    assert len(project.program.runs) == 1


def test_an_unfinished_eval_goes_on_and_asks_only_the_rest(project: Project, server: Server) -> None:
    project.rows(40)
    before = server.asked()
    command = project.command(server.base_url)
    project.stop(project.start_slowly(command, 5, server), signal.SIGINT)
    done = project.entry["runs"]
    lose_the_runs(project)
    ended = project.run(*command)
    assert f"Resuming eval ({len(done)}/40 runs completed)" in ended.stdout
    assert server.asked() - before == 40, "none was asked twice"
    entry = project.entry
    assert entry["status"] == "completed"
    assert entry["runs"][: len(done)] == done
    assert entry["summary"]["total_runs"] == 40


def test_what_failed_stays_failed_until_it_is_to_be_retried(project: Project, server: Server) -> None:
    project.program.write("broken", "")
    command = project.command(server.base_url)
    project.run(*command)
    lose_the_runs(project)
    (project.program.directory / "broken").unlink()
    before = server.asked()
    project.run(*command)
    assert project.entry["runs"][0]["error"] == "ValueError: this agent is broken"
    project.run(*command, "--retry-failed")
    assert server.asked() - before == 1
    assert [run["success"] for run in project.entry["runs"]] == [True] * ROWS


def test_logged_samples_are_kept(project: Project, server: Server) -> None:
    project.rows(40)
    command = project.command(server.base_url, "--log-samples")
    project.stop(project.start_slowly(command, 5, server), signal.SIGINT)
    samples = project.entries[0].with_suffix(".jsonl")
    logged = read_lines(samples)
    lose_the_runs(project)
    project.run(*command)
    after = read_lines(samples)
    assert after[: len(logged)] == logged
    assert [sample["row_index"] for sample in after] == list(range(40))


def test_conversations_that_were_not_kept_are_not_offered_for_reuse(project: Project, server: Server) -> None:
    project.run(*project.command(server.base_url))
    lose_the_runs(project)
    project.run(*project.command(server.base_url))
    before = server.asked()
    ended = project.run(*project.command(server.base_url, "--reuse", eval_fn="rewards:half"))
    assert server.asked() - before == ROWS
    assert "reused" not in ended.stdout


@pytest.mark.parametrize(
    "changes",
    [
        {"row_index": 77},
        {"row_index": -1},
        {"run_index": 5},
        {"model_tag": "baseline"},
        {"scores": {}},
        {"scores": {"another": 1.0}},
        {"tokens": -3},
        {"tokens": 10**30},
        {"duration_ms": -1.0},
        {"duration_ms": 1e11},
        {"duration_ms": 1e300},
    ],
)
def test_a_run_that_cannot_be_one_of_ours_is_asked_again(
    project: Project, server: Server, changes: dict[str, Any]
) -> None:
    command = project.command(server.base_url)
    project.run(*command)
    entry, (path,) = project.entry, project.entries
    entry["runs"][2] |= changes
    write(path, entry)
    lose_the_runs(project)
    before = server.asked()
    project.run(*command)
    assert server.asked() - before == 1
    assert [run["row_index"] for run in project.entry["runs"]] == list(range(ROWS))


@pytest.mark.parametrize("change", [{"runs": [{"row_index": 0}]}, {"runs": [3]}, {"runs": {}}])
def test_runs_that_cannot_be_read_are_set_aside_with_their_file(
    project: Project, server: Server, change: dict[str, Any]
) -> None:
    command = project.command(server.base_url)
    project.run(*command)
    (path,) = project.entries
    write(path, {**project.entry, **change})
    lose_the_runs(project)
    before = server.asked()
    ended = project.run(*command)
    assert "cannot be read; it is kept as " in ended.stderr
    assert server.asked() - before == ROWS
    assert project.entry["status"] == "completed"


def write(path: Any, entry: dict[str, Any]) -> None:
    path.write_text(json.dumps(entry, indent=2))
