"""The documented cache of `eval`: where its files lie, what they say, and what the same command makes of them."""

from __future__ import annotations

import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import NOWHERE, Program, one_line_of
from tests.app.eval_kit import CACHED, ROWS, Project, Server, read_json, read_lines, summary_in, target

from benchwright.app.evaluate import prepare_eval
from benchwright.app.run_lookup.eval_cache import EvalCacheLookup
from benchwright.config import EvalSettings

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
        "version", "task_id", "config_hash", "status", "created_at", "updated_at", "config", "run",
        "simulated", "runs", "summary",
    ]  # fmt: skip
    assert entry["simulated"] is True, "which is told of a simulated model only"
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
    stopped = project.stop(project.start_slowly(command, 2, server), signal.SIGINT)
    entry = project.entry
    kept = len(entry["runs"])
    assert f"Evaluation interrupted. Progress: {kept}/{ROWS} runs.\n" in stopped.stderr
    assert (entry["status"], entry["summary"]) == ("in_progress", None)
    assert [run["row_index"] for run in entry["runs"]] == list(range(kept))

    assert f"Resuming eval ({kept}/{ROWS} runs completed)\n{NOTE}" in project.run(*command).stdout
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
    (kept,) = re.findall(rf"^Resuming eval \((\d)/{ROWS} runs completed\)$", resumed.stdout, re.M)
    assert int(kept) >= 2, "of three that were asked all but the last were finished"
    assert project.entry["status"] == "completed"
    assert len(project.entry["runs"]) == ROWS
    assert server.asked() - before == ROWS + (3 - int(kept)), "only what was in flight was asked again"


def test_while_an_eval_goes_on_its_files_follow(project: Project, server: Server) -> None:
    """So they are there even if nobody gets to write them at the end."""
    project.rows(300)
    process = project.start_slowly(project.command(server.base_url, "--log-samples"), 1, server)
    (path,) = project.entries
    samples = path.with_suffix(".jsonl")
    seen = 0
    for _ in range(2):  # a first time, and a next one
        while min(len(project.entry["runs"]), samples.read_text().count("\n")) <= seen:
            assert process.poll() is None, "it is still going on"
            time.sleep(0.05)
        seen = len(project.entry["runs"])
    project.stop(process, signal.SIGKILL)
    entry = project.entry
    assert (entry["status"], entry["summary"]) == ("in_progress", None)
    rows = [run["row_index"] for run in entry["runs"]]
    assert rows == list(range(len(rows)))
    assert [run["scores"]["rewards:right"] for run in entry["runs"]] == [
        float(target(row) == f"word{row}") for row in rows
    ]
    logged = read_lines(samples)
    assert [sample["row_index"] for sample in logged] == list(range(len(logged)))
    assert logged[1]["messages"][-1] == {"role": "assistant", "content": "word1"}


def test_mcp_tools_are_what_the_note_names(project: Project, server: Server) -> None:
    pytest.importorskip("fastmcp")
    project.rows(3)
    (project.program.directory / "tools").mkdir()
    project.program.write("tools/main.py", TOOLS)
    project.program.write("rewards.py", SLOW_REWARD)
    command = project.command(server.base_url)
    command[1:3] = ["--mcp", "tools"]
    project.stop(project.start_slowly(command, 1, server), signal.SIGINT)
    assert "Note: Module fingerprint covers MCP directory tools. External" in project.run(*command).stdout


def test_a_completed_eval_is_shown_and_nobody_asked(project: Project, server: Server) -> None:
    command = project.command(server.base_url)
    first, before = project.run(*command), server.asked()
    again = project.run(*command, "-o", "late.json", "--output-path", "late")
    assert server.asked() == before
    assert summary_in(again.stdout) == summary_in(first.stdout)
    assert f"{CACHED}\n" in again.stdout
    assert "Use --fresh to re-run from scratch.\n" in again.stdout
    assert f"Cache: {project.entries[0]}\n" in again.stdout
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
        lookup = prepare_eval(settings, print).lookup
        assert isinstance(lookup, EvalCacheLookup)
        return lookup.task_id

    yield task_id
    for name in set(sys.modules) - before:
        if name in ("agent", "rewards") or name.startswith("pack"):
            del sys.modules[name]


@pytest.mark.parametrize(
    "changed", ["agent.py", "rewards.py", "data.jsonl", "pack/other.py", "helper.py", "helper_of_helper.py"]
)
def test_a_changed_source_makes_another_entry(
    project: Project, task_id: Callable[[str], str], changed: str
) -> None:
    package = project.program.directory / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("from agent import agent_loop\n")
    (package / "other.py").write_text("def later():\n    import helper\n")
    project.program.write("helper.py", "import helper_of_helper\n")
    project.program.write("helper_of_helper.py", "")
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
        assert CACHED not in project.run(*command, "--fresh").stdout
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
    assert CACHED in project.run(*command).stdout, "the same command shows them as they are"
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
