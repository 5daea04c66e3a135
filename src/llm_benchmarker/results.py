"""Documented import path of result files: writing, reading, and a table that compares them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from benchwright.catalog.llm_benchmarker_api.results import save_result

__all__ = ["compare_results", "save_result"]


def compare_results(files: Sequence[str | os.PathLike[str]]) -> None:
    """Print the documented comparison table, with one column for each result file.

    Raises:
        UserError: If a file cannot be read, or is not a result file.
    """
    from rich.console import Console

    from benchwright.analysis.comparison.result_files import read_result_file
    from benchwright.reports.compare_table import render_comparison

    Console().print(render_comparison([read_result_file(Path(file)) for file in files]))
