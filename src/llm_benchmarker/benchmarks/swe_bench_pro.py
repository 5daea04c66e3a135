"""Documented import path of the benchmark SWE-bench Pro."""

from __future__ import annotations

from llm_benchmarker.benchmarks.swe_bench import SWEBenchBenchmark

__all__ = ["SWEBenchProBenchmark"]


class SWEBenchProBenchmark(SWEBenchBenchmark):
    """The benchmark SWE-bench Pro of the catalog, with the limits of its documented variant."""

    name = "swe_bench_pro"
    description = "SWE-bench Pro — 731 real-world SE tasks in Docker"
