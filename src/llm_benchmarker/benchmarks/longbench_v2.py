"""LongBench v2."""

from __future__ import annotations

from benchwright.catalog.documented.from_catalog import CatalogBenchmark

__all__ = ["LongBenchV2Benchmark"]


class LongBenchV2Benchmark(CatalogBenchmark):
    """LongBench v2, as the catalog asks and grades it."""

    name = "longbench_v2"
