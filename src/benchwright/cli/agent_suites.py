"""Runs several agents in one command. They form a suite, in which each agent works with each model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchwright.app.suite_session import SuitePart
from benchwright.app.suites import Suite, SuiteEntry
from benchwright.cli.suite_running import run_suite
from benchwright.cli.suite_settings import check_allowed_in_suite, with_applicable_options
from benchwright.cli.unused_options import refuse_unused_options
from benchwright.config import Settings
from benchwright.errors import UserError

SettingsBuilder = Callable[[dict[str, Any]], Settings]


def eval_with_agents(
    options: dict[str, Any], settings_of: SettingsBuilder, *, as_json: bool, quiet: bool
) -> int:
    """Run an eval with each agent and model. Return the exit code of `run_suite`."""
    if options["output"] is not None:
        raise UserError(
            "-o writes the results of one run: write those of several agents by `benchwright table -o`."
        )
    entries = [SuiteEntry("eval", Path(options["dataset"]).stem, {})]
    return _run(entries, options, settings_of, as_json=as_json, quiet=quiet)


def run_benchmarks_with_agents(
    names: Sequence[str], options: dict[str, Any], settings_of: SettingsBuilder, *, as_json: bool, quiet: bool
) -> int:
    """Run benchmarks with each agent and model. Return the exit code of `run_suite`."""
    entries = [SuiteEntry("benchmark", name, {}) for name in names]
    return _run(entries, options, settings_of, as_json=as_json, quiet=quiet)


def _run(
    entries: Sequence[SuiteEntry],
    options: dict[str, Any],
    settings_of: SettingsBuilder,
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    agents = dict.fromkeys(options["agent"])
    each = [settings_of({**options, "agent": (agent,)}) for agent in agents]
    first = each[0]
    refuse_unused_options(each, [entry.name for entry in entries if entry.kind == "benchmark"])
    check_allowed_in_suite(first, "several agents (--agent)")
    if not first.endpoint.models_under_test:
        raise UserError("Name the models for these agents with --model.")
    name = first.label.name or "-".join([*(entry.name for entry in entries), "agents"])
    suite = Suite(None, name, first.endpoint.models_under_test, {}, entries)
    own = {"suite": name, "name": None}
    parts = [
        SuitePart(entry, settings.model_copy(update=own), first.endpoint.models_under_test)
        for entry in entries
        for settings in each
    ]
    parts = with_applicable_options(parts)
    return run_suite(suite, parts, dry_run=first.execution.dry_run, as_json=as_json, quiet=quiet)
