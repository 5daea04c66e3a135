"""The documented cache of `eval`: where its files lie, what they say, and what the same command makes of them."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from app_kit import NOWHERE, Program, one_line_of
from eval_kit import Project, Server, logging_server, read_json, read_lines, target

from benchwright.app.evaluate import prepare_eval
from benchwright.config import EvalSettings

ROWS = 6
CACHED = "Evaluation already completed (cached)."
NOTE = """\
Note: Module fingerprint covers file agent.py. External dependency changes
      are not detected. Use --fresh if you changed external imports.
"""
TOOLS = """
from fastmcp import FastMCP

mcp = FastMCP("one tool")


@mcp.tool()
def lookup(key: str) -> str:
    return key
"""
SLOW_REWARD = """
import time


def right(solution_str, ground_truth, extra_info=None):
    time.sleep(0.3)
    return 1
"""
CONFIG = {
    "model": "m",
    "module": "agent:agent_loop",
    "dataset": "data.jsonl",
    "eval_fns": ["rewards:right"],
    "n_runs": 1,
    "max_turns": 10,
    "pass_threshold": 1.0,
    "offset": 0,
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with logging_server(tmp_path_factory.mktemp("server") / "truth.jsonl") as server:
        yield server


@pytest.fixture
def project(program: Program) -> Project:
    return Project(program, ROWS)


# Where it lies, and what it says


def test_a_cache_file_lies_under_its_model_and_its_dataset(project: Project, server: Server) -> None:
    dataset = project.rows(2, "Données (final).jsonl")
    command = project.command(server.base_url)
    command[command.index("data.jsonl")] = dataset
    command[command.index("m")] = "My-Org/Modèl v1.5"
    project.run(*command)
    (path,) = project.entries
    assert path.parent == project.cache / "eval" / "my-org-model-v1-5" / "donnees-final"
    entry = read_json(path)
    assert re.fullmatch(rf"1\d{{9}}_{entry['task_id']}\.json", path.name)
    assert path.with_name(f"{entry['task_id']}.lock").exists()
    assert entry["config"]["model"] == "My-Org/Modèl v1.5"


def test_a_cache_file_says_what_the_documents_promise(project: Project, server: Server) -> None:
    project.run(*project.command(server.base_url))
    entry = project.entry
    assert list(entry) == [
        "version", "task_id", "config_hash", "status", "created_at", "updated_at", "config", "run", "runs", "summary",
    ]  # fmt: skip
    assert (entry["version"], entry["status"]) == (1, "completed")
    assert re.fullmatch(r"[0-9a-f]{32}", entry["config_hash"])
    assert entry["task_id"] == entry["config_hash"][:12]
    for name in ("created_at", "updated_at"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry[name])
    config = entry["config"]
    assert re.fullmatch(r"[0-9a-f]{32}", config.pop("dataset_fingerprint"))
    assert re.fullmatch(r"[0-9a-f]{32}", config.pop("fingerprint"))
    assert config == CONFIG | {"base_url": server.base_url}, "what was not given is left out"
    for row, run in enumerate(entry["runs"]):
        assert run.pop("duration_ms") > 0
        assert run == {
            "row_index": row,
            "run_index": 0,
            "success": True,
            "scores": {"rewards:right": float(target(row) == f"word{row}")},
            "tokens": 3,
            "model_tag": None,
            "error": None,
        }
    figures = {"mean": 4 / 6, "std": (2 / 9) ** 0.5, "min": 0.0, "max": 1.0}
    assert entry["summary"].pop("total_duration_ms") > 0
    assert entry["summary"] == {
        "eval_fns": {"rewards:right": pytest.approx(figures)},
        "total_runs": ROWS,
        "total_tokens": 3 * ROWS,
    }


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        (
            {"OSMOSIS_CACHE_DIR": "{}/own", "XDG_CACHE_HOME": "{}/xdg", "BENCHWRIGHT_HOME": "{}/home"},
            "own/eval",
        ),
        ({"XDG_CACHE_HOME": "{}/xdg", "BENCHWRIGHT_HOME": "{}/home"}, "home/cache/eval"),
        ({"XDG_CACHE_HOME": "{}/xdg"}, "xdg/osmosis/eval"),
        ({}, ".cache/osmosis/eval"),
        ({"OSMOSIS_CACHE_DIR": "~/own"}, "own/eval"),
    ],
)
def test_the_environment_says_where_the_cache_is(
    program: Program, variables: dict[str, str], place: str
) -> None:
    for name in ("OSMOSIS_CACHE_DIR", "XDG_CACHE_HOME", "BENCHWRIGHT_HOME"):
        program.environment.pop(name, None)
    there = {name: value.format(program.directory) for name, value in variables.items()}
    ended = program.run("eval", "cache", "dir", HOME=str(program.directory), **there)
    assert ended.stdout == f"{program.directory / place}\n"


def test_no_key_is_in_any_file(project: Project, server: Server) -> None:
    keys = ["sk-primary-4f1d", "sk-baseline-9c2e", "sk-of-the-environment-7a"]
    baseline = ["--baseline-model=b", f"--baseline-base-url={server.base_url}"]
    given = [f"--api-key={keys[0]}", f"--baseline-api-key={keys[1]}"]
    outputs = ["--log-samples", "--output-path=out", "-o=out.json"]
    command = project.command(server.base_url, *baseline, *outputs)
    project.run(*command, *given, OPENAI_API_KEY=keys[2])
    project.run(*command, "--fresh", OPENAI_API_KEY=keys[2])
    files = [path for path in project.program.directory.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert [path for path in files for key in keys if key.encode() in path.read_bytes()] == []


# The same command again


def test_an_interrupted_eval_is_in_progress_and_goes_on(project: Project, server: Server) -> None:
    command, before = project.command(server.base_url), server.asked()
    stderr = project.stop(project.start_slowly(command, 2, server), signal.SIGINT)
    entry = project.entry
    kept = len(entry["runs"])
    assert f"Evaluation interrupted. Progress: {kept}/{ROWS} runs.\n" in stderr
    assert (entry["status"], entry["summary"]) == ("in_progress", None)
    assert [run["row_index"] for run in entry["runs"]] == list(range(kept))

    assert f"Resuming eval ({kept}/{ROWS} runs completed)\n{NOTE}" in project.run(*command).stderr
    after = project.entry
    assert after["status"] == "completed"
    assert after["runs"][:kept] == entry["runs"], "what was done is kept as it was"
    assert [run["row_index"] for run in after["runs"]] == list(range(ROWS))
    assert after["created_at"] == entry["created_at"]
    assert server.asked() - before == ROWS, "nothing was asked twice"


def test_a_killed_eval_goes_on_too(project: Project, server: Server) -> None:
    command, before = project.command(server.base_url), server.asked()
    project.stop(project.start_slowly(command, 3, server), signal.SIGKILL)
    assert project.entry["status"] == "in_progress"
    resumed = project.run(*command)
    (kept,) = re.findall(rf"^Resuming eval \((\d)/{ROWS} runs completed\)$", resumed.stderr, re.M)
    assert int(kept) >= 2, "of three that were asked all but the last were finished"
    assert project.entry["status"] == "completed"
    assert len(project.entry["runs"]) == ROWS
    assert server.asked() - before == ROWS + (3 - int(kept)), "only what was in flight was asked again"


def test_mcp_tools_are_what_the_note_names(project: Project, server: Server) -> None:
    pytest.importorskip("fastmcp")
    project.rows(3)
    (project.program.directory / "tools").mkdir()
    project.program.write("tools/main.py", TOOLS)
    project.program.write("rewards.py", SLOW_REWARD)
    command = project.command(server.base_url)
    command[1:3] = ["--mcp", "tools"]
    project.stop(project.start_slowly(command, 1, server), signal.SIGINT)
    assert "Note: Module fingerprint covers MCP directory tools. External" in project.run(*command).stderr


def test_a_completed_eval_is_shown_and_nobody_asked(project: Project, server: Server) -> None:
    command = project.command(server.base_url)
    first, before = project.run(*command), server.asked()
    again = project.run(*command, "-o", "late.json", "--output-path", "late")
    assert server.asked() == before
    assert again.stdout == first.stdout
    assert f"{CACHED}\n" in again.stderr
    assert "Use --fresh to re-run from scratch.\n" in again.stderr
    assert f"Cache: {project.entries[0]}\n" in again.stderr
    assert read_json(project.program.directory / "late.json")["summary"]["total_runs"] == ROWS
    assert len(list(project.program.directory.glob("late/m/data/results_*.json"))) == 1


@pytest.fixture
def task_id(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """The task id of an agent's evaluation, worked out without running it."""
    monkeypatch.chdir(project.program.directory)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)

    def task_id(module: str) -> str:
        settings = EvalSettings(
            model="m", base_url=NOWHERE, module=module, dataset=Path("data.jsonl"), eval_fn=("rewards:right",)
        )
        return prepare_eval(settings, print).shelf.task_id

    yield task_id
    for name in set(sys.modules) - before:
        if name in ("agent", "rewards") or name.startswith("pack"):
            del sys.modules[name]


@pytest.mark.parametrize("changed", ["agent.py", "rewards.py", "data.jsonl", "pack/other.py"])
def test_a_changed_source_makes_another_entry(
    project: Project, task_id: Callable[[str], str], changed: str
) -> None:
    package = project.program.directory / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("from agent import agent_loop\n")
    (package / "other.py").write_text("")
    before = task_id("pack:agent_loop")
    assert task_id("pack:agent_loop") == before
    path = project.program.directory / changed
    path.write_text(path.read_text() + "\n")
    assert task_id("pack:agent_loop") != before


def test_what_nothing_comes_from_does_not(project: Project, task_id: Callable[[str], str]) -> None:
    before = task_id("agent:agent_loop")
    project.program.write("unrelated.py", "")
    assert task_id("agent:agent_loop") == before


def test_what_does_not_change_the_results_does_not_make_an_entry(project: Project, server: Server) -> None:
    project.run(*project.command(server.base_url))
    more = ["--batch-size=3", "-q", "--log-samples", "--output-path=out", "--api-key=another", "--debug"]
    before = server.asked()
    project.run(*project.command(server.base_url + "/", *more))
    assert server.asked() == before
    assert len(project.entries) == 1


# --fresh and --retry-failed


def test_fresh_keeps_the_cache_file_and_its_samples_as_backups(project: Project, server: Server) -> None:
    command = project.command(server.base_url, "--log-samples")
    project.run(*command)
    (path,) = project.entries
    old = path.read_text(), path.with_suffix(".jsonl").read_text()
    before = server.asked()
    for times in (1, 2):
        assert CACHED not in project.run(*command, "--fresh").stderr
        assert server.asked() - before == times * ROWS
    assert len(project.entries) == 1
    kept, samples = (sorted(path.parent.glob(f"*{suffix}.backup.*")) for suffix in (".json", ".jsonl"))
    assert (len(kept), len(samples)) == (2, 2), "none was written over another"
    assert (kept[0].read_text(), samples[0].read_text()) == old
    assert re.fullmatch(re.escape(path.name) + r"\.backup\.1\d{9}", kept[0].name)


def test_fresh_after_a_kill_backs_up_what_was_done(project: Project, server: Server) -> None:
    command = project.command(server.base_url)
    project.stop(project.start_slowly(command, 3, server), signal.SIGKILL)
    project.run(*command, "--fresh")
    (backup,) = project.cache.rglob("*.backup.*")
    assert len(read_json(backup)["runs"]) >= 2
    assert project.entry["status"] == "completed"


def test_only_what_failed_is_tried_again(project: Project, server: Server) -> None:
    project.rows(21)
    project.program.write("broken", "")
    command = project.command(server.base_url, "--log-samples")
    project.run(*command)
    failed = [run for run in project.entry["runs"] if not run["success"]]
    assert [run["row_index"] for run in failed] == [0, 10, 20]
    assert {run["error"] for run in failed} == {"ValueError: this agent is broken"}
    assert all(run["scores"] == {} for run in failed)
    right = sum(target(row) == f"word{row}" for row in range(21))
    without = project.entry["summary"]["eval_fns"]["rewards:right"]
    assert without["mean"] == pytest.approx((right - 2) / 21), "of the failed two would have been right"

    (project.program.directory / "broken").unlink()
    before = server.asked()
    assert CACHED in project.run(*command).stderr, "the same command shows them as they are"
    project.run(*command, "--retry-failed")
    assert server.asked() - before == 3
    entry = project.entry
    assert entry["status"] == "completed"
    assert [run["row_index"] for run in entry["runs"] if run["success"]] == list(range(21))
    assert entry["summary"]["eval_fns"]["rewards:right"]["mean"] == pytest.approx(right / 21)
    (samples,) = project.cache.rglob("*.jsonl")
    assert [sample["row_index"] for sample in read_lines(samples)] == list(range(21))

    project.run(*command, "--retry-failed")
    assert server.asked() - before == 3, "nothing failed any more"
    assert project.backups == []


def test_trying_failed_ones_again_does_not_go_with_starting_over(project: Project, server: Server) -> None:
    ended = project.run(*project.command(server.base_url, "--fresh", "--retry-failed"), code=1)
    assert one_line_of(ended.stderr) == "Error: --fresh and --retry-failed are mutually exclusive."


# Files that cannot be gone on with


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
    assert CACHED in project.run(*command).stderr


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
    assert CACHED in project.run(*command).stderr
    assert server.asked() == before


def test_an_entry_whose_run_is_gone_is_done_anew(project: Project, server: Server) -> None:
    command = project.command(server.base_url)
    project.run(*command)
    (project.program.only_run / "run.json").unlink()
    before = server.asked()
    ended = project.run(*command)
    assert "is gone; it is kept as a backup, and the eval starts anew." in ended.stderr
    assert server.asked() - before == ROWS
    assert len(project.backups) == 1


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
