"""`benchwright compare LOAD LOAD`: load measurements, compared level by level."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.cli.output import print_json, print_table
from benchwright.errors import UserError
from benchwright.files import append_to_file, write_atomically

if TYPE_CHECKING:
    from benchwright.analysis.load.comparison.records import LoadComparisonResult
    from benchwright.analysis.load.records import LoadReport

RULE_FAILED_EXIT_CODE = 3
"""Exit code if a rule of the comparison, such as `--max-regression`, is violated."""


def find_load_reports(references: Sequence[str]) -> list[LoadReport]:
    """Return the load measurements that the references name. Empty if they name only runs or result files.

    Raises:
        UserError: If some references name load measurements and others do not, or if there is only one.
    """
    from benchwright.analysis.load.comparison.references import find_all_loads, read_single_level

    reports = [load.report for load in find_all_loads(references)]
    if not reports:
        levels = [read_single_level(reference) for reference in references] if len(references) == 2 else []
        return [level for level in levels if level is not None] if levels and None not in levels else []
    if len(reports) < 2:
        raise UserError(
            f"{references[0]} is one measurement of one model: name another one to compare it with."
        )
    return reports


def print_and_write_comparison(
    found: LoadComparisonResult,
    *,
    as_json: bool = False,
    junit: Path | None = None,
    markdown: Path | None = None,
) -> int:
    """Print a comparison of load measurements, and write it to the requested files. Return the exit code."""
    from benchwright.reports.load.load_comparison import load_comparison_junit, load_comparison_markdown
    from benchwright.reports.terminal import render_load_comparison

    if as_json:
        print_json(found)
    else:
        print_table(render_load_comparison(found))
    if junit is not None:
        write_atomically(junit, load_comparison_junit(found))
    if markdown is not None:
        write_atomically(markdown, load_comparison_markdown(found).encode())
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        append_to_file(Path(summary), load_comparison_markdown(found).encode())
    if found.failed:
        return RULE_FAILED_EXIT_CODE
    return 1 if all(pair.refusals and not pair.changes for pair in found.pairs) else 0
