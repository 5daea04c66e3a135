"""What is public, and what it costs until it is used."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import Any, get_type_hints

import pytest

import benchwright
from benchwright.api.arguments import BenchmarkArguments, EvalArguments, RunArguments
from benchwright.config import BenchmarkSettings, EvalSettings, Settings, sections_by_name

PUBLIC = {
    *("evaluate", "evaluate_async", "run_benchmark", "run_benchmark_async", "compare", "load_run", "runs"),
    *("check", "check_async", "Card", "Finding"),
    *("Scorer", "Task", "Solver", "Session", "Score", "Sample", "Trial", "Outcome", "TaskSpec", "Status"),
    *("Evaluation", "BenchmarkRun", "BenchmarkReport", "LoadedRun", "TrialRow", "RequestRow"),
    *("BenchwrightError", "UserError", "ProviderError", "JournalError", "RunUnfinished"),
    *("NoScore", "Statistic"),
    "__version__",
}

NAMED = {"model", "models", "base_url", "api_key", "dataset", "module", "agent", "scorer"}
"""Fields of settings that are parameters of their own."""

OF_COMMANDS = {"dry_run", "anew", "run", "suite"}
"""Fields that a command sets: what they do has another name in Python, or none."""


def test_dir_shows_what_is_public_and_nothing_else() -> None:
    assert dir(benchwright) == sorted(PUBLIC)
    assert set(benchwright.__all__) == PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_is_there_and_says_what_it_is(name: str) -> None:
    thing = getattr(benchwright, name)
    assert name == "__version__" or thing.__doc__


def test_the_package_imports_nothing_of_ours_until_a_name_is_used() -> None:
    code = "import benchwright, sys; print(*(name for name in sys.modules if name.startswith('benchwright')))"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.split() == ["benchwright"]


@pytest.mark.parametrize(
    "before", ["", "import benchwright.runs.table; ", "from benchwright import load_run; "]
)
def test_runs_lists_runs_whatever_was_imported_before(before: str) -> None:
    code = f"{before}from benchwright import runs; print(runs(model='no such model'))"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "[]"


def test_a_name_that_is_not_public_is_not_there() -> None:
    with pytest.raises(AttributeError, match="'load_runs'"):
        import_module("benchwright").load_runs  # noqa: B018


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [(RunArguments, Settings), (EvalArguments, EvalSettings), (BenchmarkArguments, BenchmarkSettings)],
)
def test_every_setting_is_an_argument(arguments: Any, settings: type[Settings]) -> None:
    named = NAMED - {"agent"} if arguments is BenchmarkArguments else NAMED
    assert set(get_type_hints(arguments)) == set(sections_by_name(settings)) - named - OF_COMMANDS
