"""Judge options in a suite. Evals have such options of their own.

Benchmarks take the same settings through `--option`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import click

from benchwright.app.shared_options import metadata_of_benchmark
from benchwright.app.suite_session import SuitePart
from benchwright.app.suites import Suite
from benchwright.cli.option_values import parse_pairs
from benchwright.config import JUDGE_SETTING_NAMES, BenchmarkSettings, EvalSettings, judge_option_text
from benchwright.errors import UserError
from benchwright.text import make_safe

JUDGE_SCORER = "judge"
"""Name of the eval scorer that asks a judge."""


def suite_judge_options(parts: Sequence[SuitePart], named: Collection[str], suite: Suite) -> list[str]:
    """Return the judge options among the options that are given for the whole suite (`named`).

    Raises:
        UserError: If there are such options, and no part of the suite uses a judge.
    """
    found = [name for name in JUDGE_SETTING_NAMES if name in named]
    if found and not any(map(_asks_a_judge, parts)):
        flag = found[0].replace("_", "-")
        raise UserError(
            f"No part of the suite {make_safe(suite.name)} asks a judge: --{flag} does nothing in it."
        )
    return found


def _asks_a_judge(part: SuitePart) -> bool:
    if isinstance(part.settings, EvalSettings):
        return JUDGE_SCORER in part.settings.scoring.scorer
    if isinstance(part.settings, BenchmarkSettings):
        about = metadata_of_benchmark(part.entry.name, part.settings.catalog.plugin)
        return about is not None and "judge" in about.roles
    return False


def with_judge_as_option(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with the judge's settings moved into `option`. Benchmarks take the judge's settings there.

    Raises:
        click.UsageError: If `option` names another judge.
    """
    judge = tuple(
        f"{name}={judge_option_text(values[name])}" for name in JUDGE_SETTING_NAMES if values.get(name)
    )
    rest = {name: value for name, value in values.items() if name not in JUDGE_SETTING_NAMES}
    for pair in judge:
        name, _, value = pair.partition("=")
        if parse_pairs(rest.get("option", ()), "--option").get(name, value) != value:
            flag = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{flag} {value!r} and --option {name}=… contradict each other: give one.")
    return {**rest, "option": (*rest.get("option", ()), *judge)} if judge else rest


def without_unused_judge(options: dict[str, Any], own: Collection[str]) -> dict[str, Any]:
    """Return the options of an eval, without a judge that is given for the whole suite and that this eval does not use.

    If the eval uses a judge, the options are returned unchanged. `own`: names of the options that the eval itself sets.
    These options are kept.
    """
    if JUDGE_SCORER in options["scorer"]:
        return options
    return options | {name: None for name in JUDGE_SETTING_NAMES if name not in own}
