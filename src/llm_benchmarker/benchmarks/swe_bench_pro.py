"""SWE-bench Pro."""

from __future__ import annotations

from llm_benchmarker.benchmarks.swe_bench import SWEBenchBenchmark

__all__ = ["SWEBenchProBenchmark"]


class SWEBenchProBenchmark(SWEBenchBenchmark):
    """SWE-bench Pro; the limits are those of its documented variant."""

    name = "swe_bench_pro"
    description = "SWE-bench Pro — 731 real-world SE tasks in Docker"
