"""`benchwright report`: runs as one HTML file to read, share and keep."""

from __future__ import annotations

from pathlib import Path

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Command, option
from benchwright.cli.options import anyway_option, output_option
from benchwright.cli.output import echo
from benchwright.formats import count_with_noun

EXAMPLES = """\b
Examples:
  A run, by part of its id; two: which one is better, and where:
    benchwright report 20261121T10
    benchwright report 20261120T09 20261121T10 -o ab.html --title "Prompt 3"
  What two servers gave under load, with the plots as files:
    benchwright report load-20261122T18 load-20261123T18 --svg plots
"""


@click.command("report", cls=Command, epilog=EXAMPLES)
@click.argument(
    "runs",
    nargs=-1,
    required=True,
    metavar="RUN|FILE|LOAD ...",
    shell_complete=completions.complete_runs_and_files,
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
@option(
    "--svg",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Also write the plots of measurements under load to DIR, as SVG files.",
)
@option("--title", metavar="TEXT", help="Title of the page (default: task and models).")
@anyway_option
def command(
    runs: tuple[str, ...], output: Path, samples: int, svg: Path | None, title: str | None, anyway: bool
) -> None:
    """Write a report of runs: one HTML file that needs no network and no other file.

    RUN is an id, a unique part of one, or a directory; RUN@SLOT is one of its targets. FILE is a result file of
    `run` or `eval -o`. Several runs are compared with the first one of the same task. LOAD is a measurement made by
    `load`, given as its tag (load-…) or as the file written by `load -o`. Several measurements are drawn in the same
    plots, and compared with the first.
    """
    from benchwright.analysis.load.comparison.references import find_all_loads
    from benchwright.app.load.report import write_load_plots, write_load_report
    from benchwright.app.report import ReportSettings, write_report

    settings = ReportSettings(title, samples, anyway)
    loads = find_all_loads(runs)
    if svg is not None and not loads:
        raise click.UsageError("--svg is for measurements of `load`: give their tags (load-…) or files.")
    size = write_load_report(loads, output, settings) if loads else write_report(runs, output, settings)
    echo(f"{output} ({size / 1e6:.1f} MB)", err=True)
    if svg is not None:
        echo(f"{svg} ({count_with_noun(len(write_load_plots(loads, svg)), 'plot')})", err=True)
