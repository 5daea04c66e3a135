"""Builds the Terminal-Bench benchmarks."""

from __future__ import annotations

from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.harbor.benchmark import HARBOR, Layout, of_folders
from benchwright.catalog.terminal_bench.first_tests import run_first_tests
from benchwright.catalog.terminal_bench.parsers import PARSERS
from benchwright.catalog.terminal_bench.rows import first_samples
from benchwright.catalog.terminal_bench.solutions import first_solutions

FIRST = Layout(first_samples, run_first_tests, first_solutions, PARSERS)


def make(about: About, options: Options) -> Benchmark:
    """Build the variant that `about` describes.

    Raises:
        UserError: If an option has a value that cannot be used.
    """
    if about.variant == "documented":
        from benchwright.catalog.terminal_bench.documented import make_documented

        return make_documented(about, options)
    if about.variant == "1.0":
        return of_folders(about, options, FIRST, "terminal-bench-1.0")
    return of_folders(about, options, HARBOR, f"terminal-bench-{about.variant or '2'}")
