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
    type=click.Choice(["parquet", "csv", "jsonl", "inspect"]),
    help="Format (default: by the suffix of -o); inspect writes a log of Inspect for each target.",
)
@output_option(
    "Write to FILE, with --format inspect to a directory.", type=click.Path(path_type=Path), required=True
)
def command(run: str, what: str, form: str | None, output: Path) -> None:
    """Write the trials or requests of RUN, one row each, or the run as a log of Inspect.

    RUN is an id, a unique part of one, a directory, or the path of another program's results.
    """
    from benchwright.app.export import export, export_logs

    if form == "inspect":
        for path in export_logs(run, output):
            echo(f"{path} written", err=True)
        return
    count = export(run, what, output, form)
    echo(f"{count:,} {what} written to {output}", err=True)
