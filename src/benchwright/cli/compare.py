"""`benchwright compare`: compares runs and result files, and checks rules for the exit code."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Command, option
from benchwright.cli.compare_loads import RULE_FAILED_EXIT_CODE
from benchwright.cli.options import anyway_option, json_option, markdown_option
from benchwright.cli.output import echo, print_json, print_table

if TYPE_CHECKING:
    from benchwright.analysis.comparison.compare import ComparisonOutcome
    from benchwright.analysis.comparison.records import Comparison

EXAMPLES = """\b
Examples:
  Two runs, by parts of their ids; a run against its own baseline:
    benchwright compare 20261120T09 20261121T10
    benchwright compare 20261121T10
"""

MORE_EXAMPLES = """\b
  Two result files:
    llm-bench compare results/mmlu_model_a_*.json results/mmlu_model_b_*.json
  Two folders, task by task and all together:
    benchwright compare results/main results/branch
    benchwright compare lm-eval-output/old lm-eval-output/new
  In CI: exit with 3 if B is surely worse by more than a point, or below 70 %:
    benchwright compare main.json branch.json --max-regression 0.01 \\
        --fail-if "accuracy < 0.7" --junit compare.xml
  Two servers under load: what `load` measured, by tag or file:
    benchwright compare load-20261123T18 load.json --max-regression 0.1
  In CI, the other way round: exit with 3 unless B is shown to be not worse:
    benchwright compare main.json branch.json --max-regression 0.02 --prove
\b
Exit codes:
  0  compared, and all rules hold
  1  an error, or not comparable
  3  a rule does not hold
"""


@click.command("compare", cls=Command, epilog=EXAMPLES, more=MORE_EXAMPLES)
@click.argument(
    "runs",
    nargs=-1,
    required=True,
    metavar="RUN|FILE|FOLDER|LOAD ...",
    shell_complete=completions.complete_runs_and_files,
)
@option(
    "--confidence",
    type=float,
    metavar="LEVEL",
    default=0.95,
    heading="Rules",
    help="Confidence level of intervals, tests and --max-regression.",
)
@option(
    "--max-regression",
    type=float,
    metavar="LOSS",
    heading="Rules",
    help="Exit with 3 if B is worse than A by more than LOSS, at that confidence, in units of the score.",
)
@option(
    "--prove",
    is_flag=True,
    heading="Rules",
    help="Exit with 3 unless it is shown that B is not worse than A by more than --max-regression.",
)
@option(
    "--fail-if",
    multiple=True,
    metavar='"NAME < VALUE"',
    heading="Rules",
    help='Exit with 3 if this holds, such as "accuracy < 0.7". Repeatable.',
)
@option(
    "--junit",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    heading="Output",
    help="Write the rules to FILE as JUnit XML.",
)
@markdown_option
@anyway_option
@option(
    "--details",
    is_flag=True,
    heading="Output",
    help="Print all tables, such as changed answers.",
)
@json_option
def command(
    runs: tuple[str, ...],
    confidence: float,
    max_regression: float | None,
    prove: bool,
    fail_if: tuple[str, ...],
    anyway: bool,
    details: bool,
    junit: Path | None,
    markdown: Path | None,
    as_json: bool,
) -> None:
    """Compare runs and result files: is the second better than the first?

    RUN is an id, a unique part of one, or a directory; RUN@SLOT is one of its targets. FILE is a result file of
    `run` or `eval -o`, or results of another program. FOLDER holds several of these: folders are compared task by task,
    and all tasks together. Measurements of `load` are compared level by level: LOAD is a tag, or a file of `load -o`.
    """
    from benchwright.cli.compare_loads import find_load_reports, print_and_write_comparison

    loads = find_load_reports(runs)
    if loads:
        from benchwright.analysis.load.comparison.compare import compare_loads
        from benchwright.analysis.load.comparison.rules import LoadRules

        found = compare_loads(loads, LoadRules(fail_if, max_regression, prove), anyway=anyway)
        sys.exit(print_and_write_comparison(found, as_json=as_json, junit=junit, markdown=markdown))
    from benchwright.analysis.comparison.compare import ComparisonOptions, compare

    wanted = ComparisonOptions(confidence, anyway, fail_if, max_regression, prove)
    outcome = compare(runs, wanted)
    if as_json:
        print_json(outcome.comparison)
    else:
        _print(outcome, details=details)
    _write(outcome.comparison, junit, markdown)
    sys.exit(_exit_code(outcome))


def _print(outcome: ComparisonOutcome, *, details: bool) -> None:
    from benchwright.reports.compare_table import render_comparison
    from benchwright.reports.terminal import render_comparison_answer

    comparison = outcome.comparison
    if outcome.result_files:
        print_table(render_comparison(outcome.result_files))
        if not comparison.pairs and not comparison.rulings:
            return
        echo()
    print_table(render_comparison_answer(comparison, alone=not outcome.result_files, details=details))


def _write(comparison: Comparison, junit: Path | None, markdown: Path | None) -> None:
    from benchwright.files import append_to_file, write_atomically
    from benchwright.reports.comparison.junit import render_junit
    from benchwright.reports.comparison.markdown import render_markdown

    if junit is not None:
        write_atomically(junit, render_junit(comparison))
    if markdown is not None:
        write_atomically(markdown, render_markdown(comparison).encode())
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        append_to_file(Path(summary), render_markdown(comparison).encode())


def _exit_code(outcome: ComparisonOutcome) -> int:
    """Return the exit code of a comparison.

    A pair that is not comparable is an error. It is no error if the user wanted only the documented table of result
    files.
    """
    comparison = outcome.comparison
    if comparison.failed:
        return RULE_FAILED_EXIT_CODE
    refused = any(pair.is_refused for pair in comparison.pairs)
    return 1 if refused and not outcome.result_files else 0
