"""Assembly of AIME 2025; see `matharena`."""

from __future__ import annotations

from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.matharena.benchmark import AIME_INSTRUCTION, competition_benchmark


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark of the MathArena competition that `about` describes."""
    return competition_benchmark(about, AIME_INSTRUCTION)
