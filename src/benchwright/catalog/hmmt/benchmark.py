"""Assembly of HMMT; see `matharena`."""

from __future__ import annotations

from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.matharena.benchmark import IN_A_BOX, competition_benchmark


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark of the HMMT round that `about` describes."""
    return competition_benchmark(about, IN_A_BOX)
