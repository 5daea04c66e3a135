"""`benchwright show RUN`: the summary of a run, again."""

from __future__ import annotations

from pathlib import Path

import click

from benchwright.cli.output import print_json, print_summary, print_table

EXAMPLES = """\b
Examples:
  benchwright show 20261121            a run by the beginning of its id
  benchwright show ./some/run --json   a run by its directory
  benchwright show 20261121 --row 3    what was said in row 3
"""


@click.command("show", epilog=EXAMPLES)
@click.argument("run")
@click.option("--row", type=int, metavar="N", help="Show the conversations of this row, from 0.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def command(run: str, row: int | None, as_json: bool, debug: bool) -> None:
    """Show RUN: an id, a unique part of one, or a directory."""
    from benchwright.app.results import summary_of
    from benchwright.app.store import find_run

    directory = find_run(run)
    if row is not None:
        _show_row(directory, row, as_json=as_json)
        return
    summary = summary_of(directory)
    if as_json:
        print_json(summary)
    else:
        print_summary(summary)


def _show_row(directory: Path, row: int, *, as_json: bool) -> None:
    from benchwright.engine.transcripts import transcripts
    from benchwright.reports.transcript import render_transcripts

    found = transcripts(directory, str(row))
    if as_json:
        print_json({"row": row, "attempts": found})
    else:
        print_table(render_transcripts(found))
