"""Documented import path of the benchmark BFCL (Berkeley Function Calling Leaderboard)."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.from_catalog import CatalogBenchmark

__all__ = ["BFCLBenchmark"]


class BFCLBenchmark(CatalogBenchmark):
    """The benchmark BFCL (Berkeley Function Calling Leaderboard) with the prompts and the grading of the catalog."""

    name = "bfcl"
    is_multi_turn = True
