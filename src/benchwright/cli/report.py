"""`benchwright report`: runs as one HTML file to read, to send round and to keep."""

from __future__ import annotations

from pathlib import Path

import click

from benchwright.cli.output import echo

EXAMPLES = """\b
Examples:
  benchwright report 20261121T10                       a run, by part of its id
  benchwright report 20261120T09 20261121T10 -o ab.html
                                                       two: which one is better, and where
  benchwright report main.json branch.json --title "Prompt 3"
  benchwright report 20261121T10 --samples 100         more conversations
"""


@click.command("report", epilog=EXAMPLES)
@click.argument("runs", nargs=-1, required=True, metavar="RUN|FILE [RUN|FILE ...]")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    metavar="FILE",
    help="File to write. An earlier report is replaced, any other file is not.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=0),
    default=30,
    show_default=True,
    help="Maximum number of conversations per run, and of changed samples.",
)
@click.option("--title", metavar="TEXT", help="Title of the report (default: task and models).")
@click.option("--anyway", is_flag=True, help="Compare runs even if they are not comparable.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def command(
    runs: tuple[str, ...], output: Path, samples: int, title: str | None, anyway: bool, debug: bool
) -> None:
    """Write a report of runs: one HTML file that needs no network and no other file.

    RUN is an id, a unique part of one, or a directory; RUN@SLOT is one of its targets. FILE is a result file of
    `run` or `eval -o`. Several runs are compared with the first one of the same task.
    """
    from benchwright.app.report import ReportSettings, write_report

    size = write_report(runs, output, ReportSettings(title, samples, anyway))
    echo(f"{output} ({size / 1e6:.1f} MB)", err=True)
