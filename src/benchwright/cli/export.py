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
    type=click.Choice(["parquet", "csv", "jsonl"]),
    help="Format (default: by the suffix of -o).",
)
@output_option("Write to FILE.", type=click.Path(path_type=Path, dir_okay=False), required=True)
def command(run: str, what: str, form: str | None, output: Path) -> None:
    """Write the trials or requests of RUN (an id, a unique part of one, or a directory), one row each."""
    from benchwright.app.export import export

    count = export(run, what, output, form)
    echo(f"{count:,} {what} written to {output}", err=True)
