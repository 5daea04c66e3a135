"""Runs packs one after another. Shows progress, the matrix of scenarios by models, and scores.

Writes CSV and Markdown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.app.event_loop import run_async
from benchwright.app.launch import launch_run
from benchwright.app.pack_observer import PackObserver
from benchwright.app.packs import PackReport, describe_pack_run, prepare_pack
from benchwright.app.prepared_run import LaunchedRun, PreparedRun
from benchwright.app.until.question import settings_with_shared_error
from benchwright.cli.output import echo, print_json, print_table, say
from benchwright.cli.pack_progress import PackProgress
from benchwright.cli.run_ending import (
    ALREADY_DECIDED_MESSAGE,
    INTERRUPTED,
    STOPPED,
    combined_exit_code,
    report_end,
    say_nothing_was_sent,
)
from benchwright.config import PackSettings
from benchwright.engine.progress import LiveProgress
from benchwright.errors import BenchwrightError
from benchwright.files import write_atomically
from benchwright.formats import count_with_noun
from benchwright.packs.task import format_scenario_count
from benchwright.secrets import SECRETS
from benchwright.text import Say, make_safe, say_once


def run_packs(
    packs: Sequence[str],
    settings: PackSettings,
    *,
    as_json: bool,
    quiet: bool,
    csv_file: Path | None = None,
    markdown: Path | None = None,
) -> int:
    """Run packs one after another. Return the exit code; see `run_ending.combined_exit_code`."""
    settings = settings_with_shared_error(settings, len(packs))
    told = say_once(say)
    codes: list[int] = []
    documents: list[dict[str, Any]] = []
    reports: list[PackReport] = []
    errors = []
    for pack in packs:
        try:
            if settings.execution.dry_run:
                documents.append(_describe(pack, settings, told, as_json=as_json))
                continue
            ended, report = _run(pack, settings, told, as_json=as_json, quiet=quiet)
        except BenchwrightError as error:
            if len(packs) == 1:
                raise
            say(f"Error: {make_safe(pack)}: {error}")
            errors.append({"pack": pack, "error": str(error)})
            codes.append(STOPPED)
            continue
        reports.append(report)
        documents.append(report.document)
        codes.append(ended)
        if ended == INTERRUPTED:
            break
    if as_json:
        print_json({"packs": documents, "errors": errors})
    if settings.execution.dry_run:
        say_nothing_was_sent()
    else:
        _write_reports(reports, csv_file, markdown)
    return combined_exit_code(codes)


def _describe(pack: str, settings: PackSettings, told: Say, *, as_json: bool) -> dict[str, Any]:
    described = run_async(describe_pack_run(pack, settings, told))
    if not as_json:
        _print_description(described)
    return described


def _run(
    pack: str, settings: PackSettings, told: Say, *, as_json: bool, quiet: bool
) -> tuple[int, PackReport]:
    """Run one pack. Return the exit code and the report."""
    progress, watch = LiveProgress(), PackObserver()
    shown = [] if quiet else [PackProgress(progress, watch)]

    async def run() -> tuple[PreparedRun[PackReport], LaunchedRun]:
        prepared = await prepare_pack(pack, settings, watch, told)
        return prepared, await launch_run(prepared, [watch, *shown, progress], say)

    prepared, launched = run_async(run())
    report = prepared.write_report(launched)
    if launched.session_result is None:
        say("There is nothing to retry." if launched.is_finished else ALREADY_DECIDED_MESSAGE)
    if not as_json:
        _print_report(report)
    if not quiet:
        say(f"Run: {launched.directory}")
    return report_end(prepared, launched, report.summary, unscored_messages(report)), report


def unscored_messages(report: PackReport) -> list[str]:
    """Return a message for each model to which the pack gave no score. The message contains the reason."""
    return [
        f"The pack gave no score of {report.setup.models[slot].label}: {one.error}"
        for slot, one in report.scores.items()
        if one.score is None
    ]


def _print_description(described: Mapping[str, Any]) -> None:
    """Print the description of a pack's run (`--dry-run`)."""
    models = ", ".join(make_safe(model["id"]) for model in described["models"])
    generation = ", ".join(f"{name}={value}" for name, value in described["generation"].items())
    echo(
        f"{make_safe(described['pack'])} {make_safe(described['version'])}: "
        f"{count_with_noun(described['cells'], 'cell')} "
        f"({format_scenario_count(len(described['scenarios']), described['listed'])}, "
        f"{count_with_noun(len(described['models']), 'model')}, "
        f"{count_with_noun(described['attempts'], 'attempt')}), {described['mode']}"
    )
    echo(f"  models: {models}")
    echo(f"  generation: {make_safe(generation)}")


def _print_report(report: PackReport) -> None:
    """Print the results of a pack's run: the matrix of scenarios by models, and the scores."""
    from benchwright.reports.pack import render_matrix, render_scores
    from benchwright.reports.summary import decision_texts, repeat_lines

    setup = report.setup
    manifest = setup.manifest
    echo(
        f"{make_safe(manifest.name)} {make_safe(manifest.version)}: {setup.scenario_count_text}, "
        f"{count_with_noun(len(setup.models), 'model')}"
    )
    print_table(render_matrix(setup.models, setup.scenarios, report.results.cell_states()))
    echo()
    print_table(render_scores(setup.models, report.scores))
    for target in report.summary.targets:
        for line in repeat_lines(target):
            print_table(line)
    if report.summary.decision is not None:
        for line in decision_texts(report.summary.decision):
            print_table(line)
    if count := report.document["requestsOfNoCell"]:
        requests = count_with_noun(count, "request")
        echo(f"{requests} of no cell (sent from a container, or without fetch); see host.log.")
    if setup.bypasses_relay:
        echo("Nothing was metered (--direct).")


def _write_reports(reports: Sequence[PackReport], csv_file: Path | None, markdown: Path | None) -> None:
    """Write the reports of all packs to the CSV and Markdown files that the user asked for.

    Raises:
        UserError: If a file cannot be written.
    """
    from benchwright.reports.pack import as_csv, as_markdown

    if csv_file is not None:
        _write_file(csv_file, as_csv([(one.setup, one.results) for one in reports]))
    if markdown is not None:
        _write_file(markdown, "\n".join(as_markdown(one.setup, one.results, one.scores) for one in reports))


def _write_file(path: Path, text: str) -> None:
    write_atomically(path, SECRETS.redact(text).encode("utf-8", "replace"))
    say(f"Written: {path}")
