"""Options that would do nothing: refused where they are typed.

The environment and files of options may name them too, as these hold for several commands.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from benchwright.app.shared_options import about_of
from benchwright.catalog.benchmark import About
from benchwright.cli.option_values import pairs
from benchwright.config import JUDGE, BenchmarkSettings, EvalSettings, ModelEntry, Settings, ThinkingSettings
from benchwright.errors import UserError


class _Need(NamedTuple):
    """What an option needs to do something, in words and of settings."""

    words: str
    is_met: Callable[[Settings], bool]


def _asks_for_thinking(settings: Settings) -> bool:
    asked: list[ThinkingSettings | ModelEntry] = [*settings.models]
    if isinstance(settings, ThinkingSettings):
        asked.append(settings)
    return any(one.reasoning_effort is not None or one.thinking_budget is not None for one in asked)


def _names_a_judge(settings: Settings) -> bool:
    """Benchmarks say for themselves where a judge has no model."""
    return not isinstance(settings, EvalSettings) or settings.judge_model is not None


def _has(name: str, value: Any = True) -> Callable[[Settings], bool]:
    return lambda settings: bool(getattr(settings, name, None) == value)


NEEDS: Mapping[str, _Need] = {
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
"""What options need, by the names of their parameters."""

CONTRARY = (("fresh", "retry_failed"), ("seed", "no_seed"))
"""Options of which one alone makes sense."""

OF_SOME: Mapping[str, tuple[str, Callable[[About], bool]]] = {
    "keep_images": ("works in containers", lambda about: "containers" in about.needs),
    "seal": ("can be sealed", lambda about: about.can_be_sealed),
}
"""Options that only some benchmarks can use."""


def typed(context: click.Context) -> set[str]:
    """The names of the parameters that the command line itself has given."""
    return {
        name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }


def flag_of(context: click.Context, name: str) -> str:
    """How an option is typed."""
    option = next(each for each in context.command.params if each.name == name)
    return "/".join((max(option.opts, key=len), *option.secondary_opts[:1]))


def refuse_idle(each: Sequence[Settings], benchmarks: Sequence[str] = ()) -> None:
    """Refuses what was typed and would do nothing in any of the runs with these settings.

    Raises:
        UserError: there is such an option; says what it needs.
    """
    context = click.get_current_context()
    given = typed(context)
    for one, other in CONTRARY:
        if {one, other} <= given:
            raise UserError(f"{flag_of(context, one)} and {flag_of(context, other)} are mutually exclusive.")
    for name in NEEDS.keys() & given:
        if not any(map(NEEDS[name].is_met, each)):
            raise UserError(f"{flag_of(context, name)} does nothing without {NEEDS[name].words}.")
    plugins = [file for one in each if isinstance(one, BenchmarkSettings) for file in one.plugin]
    found = [about_of(name, plugins) for name in benchmarks]
    for name in OF_SOME.keys() & given if found else ():
        words, fits = OF_SOME[name]
        if not any(about is None or fits(about) for about in found):
            raise UserError(
                f"{flag_of(context, name)} does nothing here: no benchmark of this command {words}."
            )


def settle_judge(
    options: dict[str, Any], benchmarks: Sequence[str], given: Collection[str] | None = None
) -> None:
    """Leaves out a judge that is not `given`, where the benchmarks ask none or options name another one.

    By default what was typed is given: the environment and files of options name judges for other commands, too.
    """
    given = typed(click.get_current_context()) if given is None else given
    named = pairs(options["option"], "--option").keys()
    asks = any((about := about_of(name, options["plugin"])) and "judge" in about.roles for name in benchmarks)
    has_model = "judge_model" in named or options["judge_model"] is not None
    for name in JUDGE:
        if name not in given and (name in named or not asks or not has_model):
            options[name] = None
