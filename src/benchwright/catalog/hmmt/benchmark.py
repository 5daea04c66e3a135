"""Assembly of HMMT; see `matharena`."""

from __future__ import annotations

from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.matharena.benchmark import HMMT_INSTRUCTION, competition_benchmark


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark of the HMMT round that `about` describes."""
    return competition_benchmark(about, HMMT_INSTRUCTION)
