"""Documented import path of the benchmark LongBench v2."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.from_catalog import CatalogBenchmark

__all__ = ["LongBenchV2Benchmark"]


class LongBenchV2Benchmark(CatalogBenchmark):
    """The benchmark LongBench v2 with the prompts and the grading of the catalog."""

    name = "longbench_v2"
