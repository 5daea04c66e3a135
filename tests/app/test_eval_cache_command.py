"""`cache dir|list|show|delete`, documented as `eval cache dir|ls|rm`: for people and for scripts."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.app.eval_kit import ROWS, Project, Server
from tests.programs import run_benchwright


def entry(project: Project, model: str, dataset: str, task_id: str, *, status: str = "completed", runs: int = 1,
          created: str = "2026-01-01T00:00:00Z") -> Path:  # fmt: skip
    """Writes a cache file as the documents describe it; returns its path."""
    path = project.cache / "eval" / model / dataset / f"1767225600_{task_id}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "version": 1,
        "task_id": task_id,
        "config_hash": task_id,
        "status": status,
        "created_at": created,
        "updated_at": created,
        "config": {},
        "runs": [{"row_index": row} for row in range(runs)],
        "summary": None,
    }
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def three(project: Project) -> Project:
    """Three cached evaluations; one has samples."""
    entry(project, "llama-3", "gsm8k", "aaaaaaaaaaaa", runs=3, created="2026-01-01T10:00:00Z")
    entry(project, "llama-3", "mmlu", "bbbbbbbbbbbb", status="in_progress", created="2026-01-03T10:00:00Z")
    entry(project, "qwen", "gsm8k", "cccccccccccc", created="2026-01-02T10:00:00Z").with_suffix(
        ".jsonl"
    ).write_text("{}\n")
    return project


LISTED = {
    "a": "aaaaaaaaaaaa\tllama-3\tgsm8k\tcompleted\t3\t2026-01-01T10:00:00Z\n",
    "b": "bbbbbbbbbbbb\tllama-3\tmmlu\tin_progress\t1\t2026-01-03T10:00:00Z\n",
    "c": "cccccccccccc\tqwen\tgsm8k\tcompleted\t1\t2026-01-02T10:00:00Z\n",
}


@pytest.mark.parametrize(
    ("filters", "listed"),
    [
        ([], "bca"),
        (["--model", "LLama"], "ba"),
        (["--dataset", "SM8"], "ca"),
        (["--status", "in_progress"], "b"),
        (["--status", "completed", "--model", "llama", "--dataset", "gsm8k"], "a"),
    ],
)
def test_piped_it_lists_lines_with_tabs_the_newest_first(
    three: Project, filters: list[str], listed: str
) -> None:
    ended = three.run("eval", "cache", "ls", *filters)
    assert ended.stdout == "".join(LISTED[one] for one in listed)
    assert ended.stderr == ""


def test_as_json_it_lists_the_files_too(three: Project) -> None:
    listed = json.loads(three.run("eval", "cache", "ls", "--json").stdout)["evals"]
    assert [one["task_id"][0] for one in listed] == ["b", "c", "a"]
    assert all(Path(one["path"]).exists() for one in listed)


@pytest.mark.parametrize(
    ("filters", "listed"),
    [
        (["--model", "org/Name-7B"], True),
        (["--model", "org/name"], True),
        (["--model", "org/Name-13B"], False),
        (["--dataset", "My Rows.v2.jsonl"], True),
        (["--dataset", "sets/My Rows.v2.jsonl"], True),
        (["--dataset", "rows.v2"], True),
        (["--dataset", "sets"], False),
    ],
)
def test_names_are_found_as_they_were_typed(
    project: Project, server: Server, filters: list[str], listed: bool
) -> None:
    (project.program.directory / "sets").mkdir()
    name = project.rows(1, "sets/My Rows.v2.jsonl")
    command = project.command(server.base_url, model="org/Name-7B")
    command[command.index("data.jsonl")] = name
    project.run(*command)
    told = project.run("eval", "cache", "ls", *filters).stdout
    assert ("\torg-name-7b\tmy-rows-v2\t" in told) == listed


@pytest.mark.parametrize("more", [[], ["--model", "nobody"]])
def test_it_says_so_where_there_are_none(project: Project, more: list[str]) -> None:
    assert project.run("eval", "cache", "ls", *more).stdout == "No cached evaluations found.\n"


def test_backups_and_what_cannot_be_read_are_not_listed(three: Project) -> None:
    corrupt = entry(three, "qwen", "other", "dddddddddddd")
    corrupt.write_text("{")
    newer = entry(three, "qwen", "newer", "eeeeeeeeeeee")
    newer.write_text(json.dumps({"version": 2}))
    backup = entry(three, "qwen", "old", "ffffffffffff")
    backup.rename(backup.with_name(backup.name + ".backup.1767225601"))
    ended = three.run("eval", "cache", "ls")
    assert ended.stdout == "".join(LISTED[one] for one in "bca")
    assert f"Skipped {corrupt}: it cannot be read.\n" in ended.stderr
    assert f"Skipped {newer}: Cache file created by a newer version of osmosis (v2)." in ended.stderr
    assert corrupt.exists(), "looking changes nothing"


def test_an_eval_that_was_killed_is_listed_with_what_it_has_done(project: Project, server: Server) -> None:
    project.rows(50)
    process = project.start_slowly(project.command(server.base_url), 3, server)
    project.stop(process, signal.SIGKILL)
    _, model, dataset, status, runs, _ = project.run("eval", "cache", "ls").stdout.split("\t")
    assert (model, dataset, status) == ("m", "data", "in_progress")
    assert 2 <= int(runs) < 50


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (["aaaaaaaaaaaa"], "bc"),
        (["--all", "-y"], ""),
        (["--model", "LLAMA", "-y"], "c"),
        (["--dataset", "gsm", "--status", "completed", "--yes"], "b"),
        (["--model", "llama", "--dataset", "gsm", "-y"], "bc"),
    ],
)
def test_what_is_named_is_removed(three: Project, arguments: list[str], left: str) -> None:
    ended = three.run("eval", "cache", "rm", *arguments)
    assert ended.stdout == f"Deleted {3 - len(left)} cached evaluation(s).\n"
    assert {path.stem[-1] for path in three.entries} == set(left)
    places = {path.parent for path in three.entries}
    assert {path for path in three.cache.glob("eval/*/*") if path.is_dir()} == places, "empty ones are gone"
    assert len(list(three.cache.rglob("*.jsonl"))) == ("c" in left), "samples go with their file"


@pytest.mark.parametrize(
    ("typed", "code", "left", "said"),
    [
        ("y\n", 0, 0, "Deleted 3 cached evaluation(s)."),
        ("n\n", 0, 3, "Aborted."),
        ("\n", 0, 3, "Aborted."),
        ("", 130, 3, ""),
    ],
)
def test_several_are_only_removed_when_the_user_says_yes(
    three: Project, typed: str, code: int, left: int, said: str
) -> None:
    environment = {**three.program.environment, **three.environment}
    ended = run_benchwright(["eval", "cache", "rm", "--all"], environment=environment, typed=typed)
    assert ended.returncode == code, ended.stderr
    assert ended.stdout.startswith("Delete 3 cached evaluation(s)? [y/N]: ")
    assert said in ended.stdout
    assert len(three.entries) == left
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Error: Choose what to remove: a TASK_ID, --all, --model, --dataset or --status."),
        (["0123456789ab"], "Error: No matching cached evaluations found."),
        (["--model", "nobody", "-y"], "Error: No matching cached evaluations found."),
    ],
)
def test_nothing_named_or_nothing_found_is_a_mistake(
    three: Project, arguments: list[str], message: str
) -> None:
    ended = three.run("eval", "cache", "rm", *arguments, code=1)
    assert one_line_of(ended.stderr) == message
    assert len(three.entries) == 3


def test_what_was_removed_is_evaluated_anew(project: Project, server: Server) -> None:
    command = project.command(server.base_url)
    project.run(*command)
    project.run("eval", "cache", "rm", project.entry["task_id"])
    assert len(project.program.runs) == 1, "the run itself is kept"
    before = server.asked()
    project.run(*command)
    assert server.asked() - before == ROWS


def test_without_a_command_it_shows_its_help(program: Program) -> None:
    ended = program.run("eval", "cache")
    assert ended.returncode == 0
    assert "Usage: benchwright eval cache" in ended.stdout
    for name in ("dir", "list", "show", "delete"):
        assert f"\n  {name} " in ended.stdout


def test_the_verbs_are_those_of_runs_and_packs(three: Project) -> None:
    assert three.run("cache", "list").stdout == three.run("eval", "cache", "ls").stdout
    shown = three.run("cache", "show", "aaaaaaaaaaaa").stdout
    assert re.search(r"^Model: +llama-3$", shown, re.M)
    three.run("cache", "delete", "aaaaaaaaaaaa", "cccccccccccc", "-y")
    assert three.run("cache", "list").stdout == LISTED["b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["aaaaaaaaaaaa"], "Error: Cannot ask for confirmation without a terminal; use --yes to delete."),
        (["aaaaaaaaaaaa", "nowhere", "-y"], "Error: No matching cached evaluations found."),
    ],
)
def test_delete_asks_even_for_one_that_is_named_and_all_must_be_known(
    three: Project, arguments: list[str], message: str
) -> None:
    ended = three.run("cache", "delete", *arguments, code=1)
    assert one_line_of(ended.stderr) == message
    assert len(three.entries) == 3
