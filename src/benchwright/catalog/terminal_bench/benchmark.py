"""Builds the Terminal-Bench benchmarks."""

from __future__ import annotations

from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.harbor.benchmark import HARBOR_LAYOUT, TaskLayout, folder_benchmark
from benchwright.catalog.terminal_bench.parsers import LOG_PARSERS
from benchwright.catalog.terminal_bench.rows import version_1_samples
from benchwright.catalog.terminal_bench.solutions import version_1_solutions
from benchwright.catalog.terminal_bench.version_1_tests import run_version_1_tests

VERSION_1_LAYOUT = TaskLayout(version_1_samples, run_version_1_tests, version_1_solutions, LOG_PARSERS)


def make(about: About, options: Options) -> Benchmark:
    """Build the variant that `about` describes.

    Raises:
        UserError: If an option has a value that cannot be used.
    """
    if about.variant == "documented":
        from benchwright.catalog.terminal_bench.documented_variant import make_documented

        return make_documented(about, options)
    if about.variant == "1.0":
        return folder_benchmark(about, options, VERSION_1_LAYOUT, "terminal-bench-1.0")
    return folder_benchmark(about, options, HARBOR_LAYOUT, f"terminal-bench-{about.variant or '2'}")
