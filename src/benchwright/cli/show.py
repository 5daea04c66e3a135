"""`benchwright show RUN`: prints the summary of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Command, option
from benchwright.cli.options import json_option
from benchwright.cli.output import echo, print_json, print_summary, print_table
from benchwright.text import make_safe

if TYPE_CHECKING:
    from benchwright.analysis.summary_records import TargetSummary
    from benchwright.runs.manifest import Manifest
    from benchwright.runs.table import RunTable

EXAMPLES = """\b
Examples:
  benchwright show 20261121            a run by the beginning of its id
  benchwright show ./some/run --json   a run by its directory
  benchwright show 20261121 --row 3    the conversations of row 3
  benchwright show 20261121 --sample mmlu_3
  benchwright show 20261121 --scenario TC-03
"""


@click.command("show", cls=Command, epilog=EXAMPLES)
@click.argument("run", shell_complete=completions.complete_runs)
@option("--row", type=int, metavar="N", help="Conversations of this row, counted from 0.")
@option("--sample", metavar="ID", help="Conversations of the sample with this id.")
@option("--scenario", metavar="ID", help="Conversations of this scenario of a bench pack.")
@json_option
def command(run: str, row: int | None, sample: str | None, scenario: str | None, as_json: bool) -> None:
    """Show RUN: an id, a unique part of one, or a directory."""
    from benchwright.analysis.comparison.sides_from_table import RunSides
    from benchwright.analysis.load.cached_prompts import warm_cache_lines
    from benchwright.analysis.quality_and_speed.run_views import run_with_views
    from benchwright.interop.result_formats import find_or_import_run
    from benchwright.reports.terminal import render_quality_and_speed

    directory = find_or_import_run(run)
    for name, value in (("row", row), ("sample", sample), ("scenario", scenario)):
        if value is not None:
            _show_sample(directory, str(value), {name: value}, as_json=as_json)
            return
    sides = RunSides(directory, str(directory))
    shown = run_with_views(sides)
    if as_json:
        print_json(shown)
        return
    print_summary(shown)
    _print_cards(sides.manifest, directory)
    for line in warm_cache_lines(directory):
        echo(line)
    if shown.joint:
        print_table(render_quality_and_speed(shown.joint))
    if shown.kind == "benchmark":
        _print_benchmark(sides.manifest, shown.targets)
    if shown.kind == "pack":
        _print_pack(sides.manifest, sides.table)


def _print_cards(manifest: Manifest, directory: Path) -> None:
    """Print, for each target, what its endpoint supports.

    These findings about the endpoint are stored with the run.
    """
    from benchwright.runs.cards import card_lines, read_cards

    for slot, card in read_cards(directory).items():
        found = "; ".join(f"{title}: {said}" for title, said in card_lines(card))
        if found:
            echo(f"\nEndpoint of {make_safe(manifest.typed_models.get(slot, slot))}: {make_safe(found)}")


def _print_benchmark(manifest: Manifest, targets: Sequence[TargetSummary]) -> None:
    from benchwright.reports.benchmark import render_departures, render_figures

    if departures := manifest.about.get("departures"):
        echo()
        print_table(render_departures(departures))
    for target in targets:
        if target.figures:
            echo()
            if len(targets) > 1:
                echo(make_safe(target.title))
            print_table(render_figures(target.figures))


def _print_pack(manifest: Manifest, table: RunTable) -> None:
    from benchwright.analysis.pack_runs import load_pack_run
    from benchwright.packs.task import format_scenario_count
    from benchwright.reports.pack import render_matrix, render_scores

    kept = load_pack_run(manifest, table)
    if len(kept.scenarios) < manifest.about.get("listed", 0):
        echo(f"{format_scenario_count(len(kept.scenarios), manifest.about['listed'])}:")
    print_table(render_matrix(kept.models, kept.scenarios, kept.results.cell_states()))
    echo()
    print_table(render_scores(kept.models, kept.scores))


def _show_sample(directory: Path, sample: str, named: dict[str, Any], *, as_json: bool) -> None:
    from benchwright.analysis.transcripts import sample_of_row, transcripts
    from benchwright.reports.transcript import render_transcripts
    from benchwright.runs.table import read_table

    table = read_table(directory)
    found = transcripts(table, sample_of_row(table, int(sample)) if "row" in named else sample)
    if as_json:
        print_json({**named, "attempts": found})
    else:
        print_table(render_transcripts(found))
