"""Refuses options that were typed but have no effect.

Options from the environment or from option files are not refused, because such options may be meant for other commands.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from benchwright.app.shared_options import metadata_of_benchmark
from benchwright.catalog.benchmark import About
from benchwright.cli.option_values import parse_pairs
from benchwright.config import (
    JUDGE_SETTING_NAMES,
    BenchmarkSettings,
    EvalSettings,
    ModelEntry,
    Settings,
    ThinkingSettings,
)
from benchwright.errors import UserError


class _Need(NamedTuple):
    """The condition under which an option has an effect.

    `words`: the condition as words for a message. `is_met`: a test of the settings.
    """

    words: str
    is_met: Callable[[Settings], bool]


def _asks_for_thinking(settings: Settings) -> bool:
    asked: list[ThinkingSettings | ModelEntry] = [*settings.endpoint.models, settings.thinking]
    return any(one.reasoning_effort is not None or one.thinking_budget is not None for one in asked)


def _names_a_judge(settings: Settings) -> bool:
    """Return True if the settings name a judge model.

    The result is always True for benchmarks, because they report a missing judge model themselves.
    """
    return not isinstance(settings, EvalSettings) or settings.judge.judge_model is not None


def _has(name: str, value: Any = True) -> Callable[[Settings], bool]:
    return lambda settings: bool(settings.setting_value(name) == value)


OPTION_NEEDS: Mapping[str, _Need] = {
    "thinking_style": _Need("--reasoning-effort or --thinking-budget", _asks_for_thinking),
    "judge_base_url": _Need("--judge-model", _names_a_judge),
    "judge_api_key_env": _Need("--judge-model", _names_a_judge),
    "judge_headers": _Need("--judge-model", _names_a_judge),
    "judge_headers_env": _Need("--judge-model", _names_a_judge),
    "ray_address": _Need("--executor ray", _has("executor", "ray")),
    "prometheus_url": _Need("--metrics", _has("scrape_prometheus")),
    "speed": _Need("--dry-run", _has("dry_run")),
    "prices": _Need("--dry-run", _has("dry_run")),
}
"""Mapping from the parameter name of an option to the condition under which the option has an effect."""

EXCLUSIVE_OPTIONS = (("fresh", "retry_failed"), ("seed", "no_seed"))
"""Pairs of options that exclude each other."""

BENCHMARK_SPECIFIC_OPTIONS: Mapping[str, tuple[str, Callable[[About], bool]]] = {
    "keep_images": ("works in containers", lambda about: "containers" in about.needs),
    "seal": ("can be sealed", lambda about: about.can_be_sealed),
}
"""Options that only some benchmarks can use: parameter name -> (words for a message, test of the benchmark)."""


def command_line_parameters(context: click.Context) -> set[str]:
    """Return the names of the parameters given on the command line itself."""
    return {
        name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }


def option_spelling(context: click.Context, name: str) -> str:
    """Return an option's spelling on the command line."""
    option = next(each for each in context.command.params if each.name == name)
    return "/".join((max(option.opts, key=len), *option.secondary_opts[:1]))


def refuse_unused_options(each: Sequence[Settings], benchmarks: Sequence[str] = ()) -> None:
    """Refuse typed options that have no effect in any of the command's runs.

    `each`: the settings of each run. `benchmarks`: the names of the benchmarks.

    Raises:
        UserError: If there is such an option. The message says what the option needs.
    """
    context = click.get_current_context()
    given = command_line_parameters(context)
    for one, other in EXCLUSIVE_OPTIONS:
        if {one, other} <= given:
            raise UserError(
                f"{option_spelling(context, one)} and {option_spelling(context, other)} are mutually exclusive."
            )
    for name in OPTION_NEEDS.keys() & given:
        if not any(map(OPTION_NEEDS[name].is_met, each)):
            raise UserError(
                f"{option_spelling(context, name)} does nothing without {OPTION_NEEDS[name].words}."
            )
    plugins = [file for one in each if isinstance(one, BenchmarkSettings) for file in one.catalog.plugin]
    found = [metadata_of_benchmark(name, plugins) for name in benchmarks]
    for name in BENCHMARK_SPECIFIC_OPTIONS.keys() & given if found else ():
        words, fits = BENCHMARK_SPECIFIC_OPTIONS[name]
        if not any(about is None or fits(about) for about in found):
            raise UserError(
                f"{option_spelling(context, name)} does nothing here: no benchmark of this command {words}."
            )


def drop_unused_judge_options(
    options: dict[str, Any], benchmarks: Sequence[str], given: Collection[str] | None = None
) -> None:
    """Drop judge options that the user did not type and that no run uses.

    No run uses them if no benchmark has a judge, or if `--option` names another judge. Such options may come from the
    environment or from option files, and be meant for other commands. `given`: names of the options to keep; by default
    the options that were typed.
    """
    given = command_line_parameters(click.get_current_context()) if given is None else given
    named = parse_pairs(options["option"], "--option").keys()
    asks = any(
        (about := metadata_of_benchmark(name, options["plugin"])) and "judge" in about.roles
        for name in benchmarks
    )
    has_model = "judge_model" in named or options["judge_model"] is not None
    for name in JUDGE_SETTING_NAMES:
        if name not in given and (name in named or not asks or not has_model):
            options[name] = None
