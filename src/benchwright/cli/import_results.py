"""`benchwright import PATH`: imports results of other programs into the run store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchwright.cli.command_help import Command
from benchwright.cli.options import json_option
from benchwright.cli.output import print_json, print_table
from benchwright.cli.run_ending import INCOMPLETE

if TYPE_CHECKING:
    from benchwright.analysis.import_report import ImportReport

EXAMPLES = """\b
Examples:
  A log of Inspect, an output folder of lm-evaluation-harness:
    benchwright import logs/2026-11-22_arithmetic.eval
    benchwright import lm-eval-output/my-model
  Without importing first; a log and a run of ours:
    benchwright compare old.eval new.eval
    benchwright compare promptfoo.json 20261121T10
"""


@click.command("import", cls=Command, epilog=EXAMPLES)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@json_option
def command(paths: tuple[Path, ...], as_json: bool) -> None:
    """Take results of other programs into the store of runs.

    PATH is a file or folder of Inspect, lm-evaluation-harness, EvalScope, promptfoo, Harbor, SWE-agent or
    mini-SWE-agent, JSON Lines of ids and scores, or a folder of such. What is damaged does not keep the rest from
    being imported: it is listed, and the exit code is 4. compare, report, show, table and export also take such a
    PATH in place of a run.
    """
    from benchwright.analysis.import_report import import_results

    report = import_results(paths)
    if as_json:
        print_json(report)
    else:
        _print(report)
    if report.unread:
        sys.exit(INCOMPLETE)


def _print(report: ImportReport) -> None:
    from benchwright.reports.imported_runs import imported_lines, imported_table
    from benchwright.reports.terminal import render_blocks

    print_table(render_blocks(list(imported_lines(report)), [imported_table(report.imported)]))
