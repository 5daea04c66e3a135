"""What worker processes call to make the parts of a run again; see `engine.shards.Recipe`."""

from __future__ import annotations

import os
import sys
from collections.abc import Container

from benchwright.config import BenchmarkSettings, EvalSettings
from benchwright.engine.shards import Recipe, ShardParts


def eval_recipe(settings: EvalSettings) -> Recipe:
    """The recipe of an eval."""
    keys = _keys((settings.judge_api_key_env,))
    return Recipe(f"{__name__}:eval_parts", (settings,), tuple(sys.path), keys)


def benchmark_recipe(name: str, settings: BenchmarkSettings) -> Recipe:
    """The recipe of a benchmark of the catalog, or of the user's."""
    named = {value for option, value in settings.option.items() if option.endswith("_api_key_env")}
    return Recipe(f"{__name__}:benchmark_parts", (name, settings), tuple(sys.path), _keys(named))


def eval_parts(concurrency: int, settings: EvalSettings) -> ShardParts:
    """See `prepare_eval`, which checks and composes the same eval here."""
    from benchwright.app.evaluate import prepare_eval
    from benchwright.app.launch import parts_of

    return parts_of(prepare_eval(settings, _said_by_the_parent).request, concurrency)


def benchmark_parts(concurrency: int, name: str, settings: BenchmarkSettings) -> ShardParts:
    """See `prepare_benchmark`, which checks and composes the same run here."""
    from benchwright.app.benchmarks import prepare_benchmark
    from benchwright.app.launch import parts_of

    return parts_of(prepare_benchmark(name, settings, _said_by_the_parent).request, concurrency)


def _said_by_the_parent(text: str) -> None:
    """Says nothing: the parent has said it."""


def _keys(named: Container[str | None]) -> dict[str, str]:
    """The variables that hold keys, by their usual names or because the settings name them."""
    return {name: value for name, value in os.environ.items() if name.endswith("_API_KEY") or name in named}
