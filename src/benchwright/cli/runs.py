"""`benchwright runs`: what was run on this machine."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from benchwright.cli.output import print_json, print_table
from benchwright.reports.text import plain

EXAMPLES = """\b
Examples:
  benchwright runs
  benchwright runs --json
"""


@click.command("runs", epilog=EXAMPLES)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def command(as_json: bool, debug: bool) -> None:
    """List the runs on this machine, the newest first."""
    from rich.table import Table

    from benchwright.app.results import list_runs

    runs = list_runs()
    if as_json:
        print_json({"runs": runs})
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("Run", "Started (UTC)", "State", "Model", "Trials"):
        table.add_column(column, justify="right" if column == "Trials" else "left", no_wrap=True)
    for run in runs:
        manifest = run.manifest
        trials = sum(data.samples for data in manifest.data) * manifest.repeats * len(manifest.targets)
        started = datetime.fromtimestamp(manifest.created_at / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S")
        models = ", ".join(plain(target.model) for target in manifest.targets)
        table.add_row(manifest.id, started, run.state, models, f"{trials:,}")
    if runs:
        print_table(table)
    else:
        click.echo("There are no runs yet.", err=True)
