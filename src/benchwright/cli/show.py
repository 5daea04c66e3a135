"""`benchwright show RUN`: the summary of a run, again."""

from __future__ import annotations

import click

from benchwright.cli.output import print_json, print_summary

EXAMPLES = """\b
Examples:
  benchwright show 20261121            a run by the beginning of its id
  benchwright show ./some/run --json   a run by its directory
"""


@click.command("show", epilog=EXAMPLES)
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def command(run: str, as_json: bool, debug: bool) -> None:
    """Show the summary of RUN: an id, a unique part of one, or a directory."""
    from benchwright.app.results import summary_of
    from benchwright.app.store import find_run

    summary = summary_of(find_run(run))
    if as_json:
        print_json(summary)
    else:
        print_summary(summary)
