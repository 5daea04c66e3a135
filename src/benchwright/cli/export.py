"""`benchwright export RUN`: the rows of a run for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from benchwright.cli.output import echo

EXAMPLES = """\b
Examples:
  benchwright export 20261121T10 -o trials.parquet
  benchwright export 20261121T10 --what requests -o requests.csv
  From Python, under the same names: benchwright.load_run("20261121T10").requests
"""


@click.command("export", epilog=EXAMPLES)
@click.argument("run")
@click.option(
    "--what",
    type=click.Choice(["trials", "requests"]),
    default="trials",
    show_default=True,
    help="What to write, one row each.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["parquet", "csv", "jsonl"]),
    help="File format (default: from the suffix of FILE).",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    metavar="FILE",
    help="File to write.",
)
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def command(run: str, what: str, form: str | None, output: Path, debug: bool) -> None:
    """Write the trials or requests of RUN (an id, a unique part of one, or a directory), one row each."""
    from benchwright.app.export import export

    count = export(run, what, output, form)
    echo(f"{count:,} {what} written to {output}", err=True)
