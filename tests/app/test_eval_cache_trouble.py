"""Cache files that cannot be gone on with, the same eval twice at once, and a dataset that changes underneath."""

from __future__ import annotations

import json
import signal

import pytest
from tests.app.app_kit import one_line_of, trials
from tests.app.eval_kit import CACHED, ROWS, Project, Server, read_json


def test_a_corrupt_cache_file_is_set_aside(project: Project, server: Server) -> None:
    command = project.command(server.base_url, "--log-samples")
    project.run(*command)
    (path,) = project.entries
    path.write_text(path.read_text()[:-40])
    ended = project.run(*command)
    (aside,) = path.parent.glob("*.json.corrupt.*")
    assert f"The cache file {path} cannot be read; it is kept as {aside.name}" in ended.stderr
    assert len(list(path.parent.glob("*.jsonl.corrupt.*"))) == 1
    assert project.entry["status"] == "completed"
    assert CACHED in project.run(*command).stdout


def test_a_cache_file_of_a_newer_version_is_left_alone(project: Project, server: Server) -> None:
    command = project.command(server.base_url)
    project.run(*command)
    (path,) = project.entries
    path.write_text(json.dumps(read_json(path) | {"version": 7}))
    newer, before = path.read_text(), server.asked()
    ended = project.run(*command, code=1)
    assert one_line_of(ended.stderr) == (
        "Error: Cache file created by a newer version of osmosis (v7). Upgrade osmosis or use --fresh."
    )
    assert (path.read_text(), server.asked()) == (newer, before)
    project.run(*project.command(server.base_url, "--n=2"))  # another configuration is not concerned

    project.run(*command, "--fresh")
    (backup,) = project.cache.rglob(f"{path.name}.backup.*")
    assert backup.read_text() == newer, "--fresh is a way out"


def test_another_configuration_with_the_same_task_id_is_told(project: Project, server: Server) -> None:
    project.run(*project.command(server.base_url))
    (path,) = project.entries
    entry = read_json(path)
    path.write_text(json.dumps(entry | {"config_hash": entry["task_id"] + 20 * "0"}))
    ended = project.run(*project.command(server.base_url), code=1)
    assert one_line_of(ended.stderr) == (
        f"Error: The cache file {path} belongs to another configuration with the same task id. "
        "Change a parameter, or delete the file."
    )


def test_a_cache_that_has_moved_with_its_runs_is_found_again(project: Project, server: Server) -> None:
    command = project.command(server.base_url)
    place = project.program.directory
    home, moved = place / "home", place / "moved"
    project.environment = {"BENCHWRIGHT_HOME": str(home)}
    project.run(*command)
    home.rename(moved)
    project.environment = {"BENCHWRIGHT_HOME": str(moved)}
    before = server.asked()
    assert CACHED in project.run(*command).stdout
    assert server.asked() == before


def test_an_entry_without_runs_whose_own_run_is_gone_is_done_anew(project: Project, server: Server) -> None:
    command = project.command(server.base_url)
    project.run(*command)
    (path,) = project.entries
    path.write_text(json.dumps({**project.entry, "status": "in_progress", "runs": []}))
    (project.program.only_run / "run.json").unlink()
    before = server.asked()
    ended = project.run(*command)
    assert "no longer exists; the file is kept as a backup, and the eval starts over." in ended.stderr
    assert server.asked() - before == ROWS
    assert len(project.backups) == 1


def test_a_run_that_was_killed_before_it_had_a_cache_file_is_not_left(
    project: Project, server: Server
) -> None:
    command = project.command(server.base_url)
    project.run(*command)
    run = project.program.only_run
    for path in (*project.entries, run / "trials.jsonl", run / "bodies.jsonl"):
        path.unlink()
    before = server.asked()
    project.run(*command)
    assert len(trials(project.program.only_run)) == server.asked() - before == ROWS


def test_the_same_eval_twice_at_once_ends_with_a_time_out(project: Project, server: Server) -> None:
    project.rows(100)
    command = project.command(server.base_url)
    first = project.start_slowly(command, 1, server)
    ended = project.run(*command, code=1, OSMOSIS_EVAL_LOCK_TIMEOUT="1")
    project.stop(first, signal.SIGKILL)
    (lock,) = project.cache.rglob("*.lock")
    assert one_line_of(ended.stderr) == (
        f"Error: Another eval with the same config is already running (lock: {lock}, waited 1 s). "
        "Wait for it, or set OSMOSIS_EVAL_LOCK_TIMEOUT to wait longer."
    )


@pytest.mark.parametrize("what", ["was modified", "was deleted"])
def test_a_dataset_that_changes_under_an_eval_stops_it(project: Project, server: Server, what: str) -> None:
    dataset = project.program.directory / project.rows(400)
    process = project.start_slowly(project.command(server.base_url, "--batch-size=4"), 1, server)
    if what == "was deleted":
        dataset.unlink()
    else:
        (project.program.directory / project.rows(399, "other.jsonl")).rename(dataset)
    (project.program.directory / "slow").unlink()
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert one_line_of(stderr) == (
        f"Error: Dataset {what} during evaluation. Results may be inconsistent. Use --fresh to restart."
    )
    entry = project.entry
    assert entry["status"] == "in_progress"
    assert 100 <= len(entry["runs"]) < 400
