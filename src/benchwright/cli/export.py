"""`benchwright export RUN`: the rows of a run for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from benchwright.cli import completing
from benchwright.cli.grammar import Command, option
from benchwright.cli.options import output_option
from benchwright.cli.output import echo

EXAMPLES = """\b
Examples:
  benchwright export 20261121T10 -o trials.parquet
  benchwright export 20261121T10 --what requests -o requests.csv
  benchwright export 20261121T10 --format inspect -o logs
  From Python: benchwright.load_run("20261121T10").requests
"""


@click.command("export", cls=Command, epilog=EXAMPLES)
@click.argument("run", shell_complete=completing.runs)
@option(
    "--what", type=click.Choice(["trials", "requests"]), default="trials", help="What to write, one row each."
)
@option(
    "--format",
    "form",
    type=click.Choice(["parquet", "csv", "jsonl", "inspect", "atif"]),
    help="Format (default: by the suffix of -o); inspect: a log for each target, atif: a file for each trial.",
)
@output_option(
    "Write to FILE; inspect and atif write to a directory.", type=click.Path(path_type=Path), required=True
)
def command(run: str, what: str, form: str | None, output: Path) -> None:
    """Write the trials or requests of RUN, one row each, or the run in the format of another program.

    RUN is an id, a unique part of one, a directory, or the path of another program's results.
    """
    from benchwright.app.export import export, export_logs, export_trajectories

    if form == "inspect":
        for path in export_logs(run, output):
            echo(f"{path} written", err=True)
        return
    if form == "atif":
        echo(f"{export_trajectories(run, output):,} trajectories written to {output}", err=True)
        return
    count = export(run, what, output, form)
    echo(f"{count:,} {what} written to {output}", err=True)
