"""`benchwright audit RUN`: finds trials that may have passed without solving their tasks."""

from __future__ import annotations

import sys

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Command, option
from benchwright.cli.compare_loads import RULE_FAILED_EXIT_CODE
from benchwright.cli.options import json_option
from benchwright.cli.output import print_json, print_table

EXAMPLES = """\b
Examples:
  benchwright audit 20261121T10
  benchwright audit 20261121T10 --notes
  benchwright audit harbor-job --fail-on-flags --json
\b
Exit codes:
  0  audited
  1  an error
  3  with --fail-on-flags: a trial has signs
"""


@click.command("audit", cls=Command, epilog=EXAMPLES)
@click.argument("run", shell_complete=completions.complete_runs)
@option("--notes", is_flag=True, heading="Output", help="Show notes too: what honest agents also do.")
@option("--fail-on-flags", is_flag=True, help="Exit with 3 if a trial has signs.")
@json_option
def command(run: str, notes: bool, fail_on_flags: bool, as_json: bool) -> None:
    """Look through the trajectories of RUN for signs that trials were passed without solving their tasks.

    Such signs are tests, solutions or later commits that were read, changed test configuration or tools, forged
    results, and a patch equal to the gold patch. No score changes. RUN is an id, a unique part of one, a directory,
    or the path of another program's results.
    """
    from benchwright.analysis.audit import audit_run
    from benchwright.interop.result_formats import find_or_import_run
    from benchwright.reports.audit import render_audit

    found = audit_run(find_or_import_run(run))
    if as_json:
        print_json(found)
    else:
        print_table(render_audit(found, notes=notes))
    sys.exit(RULE_FAILED_EXIT_CODE if fail_on_flags and found.signs else 0)
