"""`benchwright report`: runs as one HTML file to read, to send round and to keep."""

from __future__ import annotations

from pathlib import Path

import click

from benchwright.cli import completing
from benchwright.cli.grammar import Command, option
from benchwright.cli.options import anyway_option, output_option
from benchwright.cli.output import echo

EXAMPLES = """\b
Examples:
  A run, by part of its id; two: which one is better, and where:
    benchwright report 20261121T10
    benchwright report 20261120T09 20261121T10 -o ab.html --title "Prompt 3"
"""


@click.command("report", cls=Command, epilog=EXAMPLES)
@click.argument(
    "runs",
    nargs=-1,
    required=True,
    metavar="RUN|FILE [RUN|FILE ...]",
    shell_complete=completing.runs_and_files,
)
@output_option(
    "Write to FILE. An earlier report is replaced, any other file is not.", default=Path("report.html")
)
@option(
    "--samples",
    type=click.IntRange(min=0),
    metavar="N",
    default=30,
    help="Maximum conversations of a run, and of changed samples.",
)
@option("--title", metavar="TEXT", help="Title of the page (default: task and models).")
@anyway_option
def command(runs: tuple[str, ...], output: Path, samples: int, title: str | None, anyway: bool) -> None:
    """Write a report of runs: one HTML file that needs no network and no other file.

    RUN is an id, a unique part of one, or a directory; RUN@SLOT is one of its targets. FILE is a result file of
    `run` or `eval -o`. Several runs are compared with the first one of the same task.
    """
    from benchwright.app.report import ReportSettings, write_report

    size = write_report(runs, output, ReportSettings(title, samples, anyway))
    echo(f"{output} ({size / 1e6:.1f} MB)", err=True)
