"""One loop: tasks over trials, the awaiting of solvers and the writing of journals each have one place.

These tests read the source as it stands, so that a second place is noticed on the day it is written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[2] / "src"

CONCURRENCY = {
    *("create_task", "ensure_future", "gather", "as_completed", "TaskGroup"),
    *(
        "Semaphore",
        "BoundedSemaphore",
        "ThreadPoolExecutor",
        "ProcessPoolExecutor",
        "run_coroutine_threadsafe",
    ),
    *("to_thread", "run_in_executor", "create_task_group", "start_soon"),
}
"""Calls that put several things under way at once."""

ROOMS_WITHOUT = ["agents", "catalog", "packs", "scorers", "app", "reports", "cli", "web", "data", "stats"]

ALLOWED = {
    (
        "benchwright/agents/rollout/tools.py",
        "gather",
    ): "the documented helper runs the tool calls of one turn",
    (
        "benchwright/agents/mcp/toolbox.py",
        "create_task",
    ): "one tool call, which may have to be left to itself",
    ("benchwright/agents/mcp/agent_loop.py", "ThreadPoolExecutor"): "one thread, where there is no loop yet",
    (
        "benchwright/agents/program_running.py",
        "ensure_future",
    ): "the start of one program, shielded from a cancellation",
    (
        "benchwright/agents/program_running.py",
        "to_thread",
    ): "looking for marked processes, where a keeper was killed",
    (
        "benchwright/agents/recipe_task.py",
        "to_thread",
    ): "the folders of one agent, read and removed when it has ended",
    (
        "benchwright/app/reasoning_effort.py",
        "ThreadPoolExecutor",
    ): "one thread, as a loop may be running already",
    ("benchwright/app/network_preflight.py", "gather"): "hosts that are tried side by side, before a run",
    (
        "benchwright/catalog/containers/egress.py",
        "to_thread",
    ): "looking for a Python that runs in containers",
    (
        "benchwright/catalog/containers/sealing/leaks.py",
        "to_thread",
    ): "the digests of a task's files, once for each image",
    ("benchwright/catalog/bfcl/encoder.py", "to_thread"): "the 91 MB of an embedding model, once for a run",
    ("benchwright/web/threads.py", "to_thread"): "reading journals for a page",
    ("benchwright/app/telemetry.py", "to_thread"): "waiting for a collector of telemetry, at the end",
    (
        "benchwright/packs/verifiers/running_verifiers.py",
        "TaskGroup",
    ): "verifiers that are made ready side by side",
    ("benchwright/packs/verifiers/running_verifiers.py", "create_task"): "each of them",
    (
        "benchwright/packs/python/benchwright_pack/inside/runner.py",
        "create_task",
    ): "in a Python pack's own process: the cells that the host sends",
    (
        "benchwright/packs/python/benchwright_pack/model.py",
        "run_in_executor",
    ): "in a Python pack's own process: one request of a cell",
}


class Call(NamedTuple):
    """A call in the source: where, in which function, and of what."""

    file: str
    function: str
    name: str
    awaited: bool


def calls(*rooms: str) -> Iterator[Call]:
    """All calls in these folders of src/."""
    for room in rooms:
        for file, tree in sources().items():
            if file.startswith(f"{room}/"):
                yield from _calls_in(tree, file, "")


@cache
def sources() -> dict[str, ast.Module]:
    """Every file of src/, parsed once."""
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


def _calls_in(node: ast.AST, file: str, function: str, awaited: bool = False) -> Iterator[Call]:
    if isinstance(node, ast.Call):
        yield Call(file, function, _name(node.func), awaited)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        function = node.name
    within_await = awaited or isinstance(node, ast.Await)
    for child in ast.iter_child_nodes(node):
        yield from _calls_in(child, file, function, within_await)


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def test_only_the_engine_and_the_wire_put_several_things_under_way() -> None:
    rooms = [*(f"benchwright/{room}" for room in ROOMS_WITHOUT), "osmosis_ai", "llm_benchmarker"]
    found = {(call.file, call.name) for call in calls(*rooms) if call.name in CONCURRENCY}
    assert found - ALLOWED.keys() == set()


def test_one_function_awaits_a_solver() -> None:
    found = [call for call in calls("benchwright", "osmosis_ai", "llm_benchmarker") if call.name == "solve"]
    assert [(call.file, call.function, call.awaited) for call in found] == [
        (
            "benchwright/catalog/containers/images.py",
            "solve",
            True,
        ),  # a solver around a solver, for its images
        (
            "benchwright/catalog/prompt_volume.py",
            "measure_prompt_volume",
            True,
        ),  # gold answers, played to count what is asked
        ("benchwright/catalog/scripted_checks.py", "solve", True),  # a solver around a solver, for validation
        ("benchwright/catalog/second_try.py", "solve", True),  # around that: right answers, beside others
        ("benchwright/catalog/second_try.py", "solve", True),  # and once more, alone
        ("benchwright/engine/worker.py", "_solve", True),
    ]


def test_one_function_awaits_a_scorer() -> None:
    found = [call for call in calls("benchwright") if call.name == "score" and call.awaited]
    assert [(call.file, call.function) for call in found] == [
        ("benchwright/agents/user_scorers.py", "score"),  # a scorer of a user, fingerprinted with its code
        ("benchwright/app/judging/judge_session.py", "score"),  # a scorer around scorers, for known answers
        ("benchwright/app/pack_info.py", "validate_pack"),  # a pack's own sum, of nothing
        ("benchwright/catalog/scripted_checks.py", "score"),  # a scorer around a scorer, for validation
        ("benchwright/catalog/second_try.py", "_is_right"),  # whether a second try is needed
        ("benchwright/engine/worker.py", "_score"),
        ("benchwright/packs/contract/contract_checks.py", "_scoring"),  # a pack's own sum, tried out
        ("benchwright/packs/results.py", "score_results"),  # a pack's own sum over its results
        ("benchwright/packs/results.py", "_totals"),  # the same over each repeat
    ]


def test_one_place_writes_trials_and_scores() -> None:
    found = {
        (call.name, call.file)
        for call in calls("benchwright", "osmosis_ai", "llm_benchmarker")
        if call.name in ("write_trial", "write_trials_and_scores")
    }
    assert found == {
        ("write_trials_and_scores", "benchwright/engine/group_commits.py"),
        ("write_trials_and_scores", "benchwright/runs/journal.py"),
        ("write_trial", "benchwright/engine/run.py"),  # what is taken over from an earlier run
        (
            "write_trials_and_scores",
            "benchwright/interop/run_import.py",
        ),  # what another program has run and scored
    }


def test_one_class_appends_to_a_journals_files() -> None:
    """The simulated endpoint's log is the only other file that is written in such a way."""
    openers = {
        file
        for file, tree in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("O_APPEND", "fdatasync", "ftruncate")
    }
    assert openers == {"benchwright/runs/journal.py", "benchwright/endpoint/simulate/truth_log.py"}


def test_the_scan_sees_what_it_looks_for() -> None:
    """Were it blind, all of the above would pass."""
    engine = {(call.file, call.name) for call in calls("benchwright/engine") if call.name in CONCURRENCY}
    assert ("benchwright/engine/executor.py", "TaskGroup") in engine
    assert ("benchwright/engine/executor.py", "create_task") in engine
