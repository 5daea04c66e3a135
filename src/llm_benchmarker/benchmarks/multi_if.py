"""Documented import path of the benchmark Multi-IF."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.from_catalog import CatalogBenchmark

__all__ = ["MultiIFBenchmark"]


class MultiIFBenchmark(CatalogBenchmark):
    """The benchmark Multi-IF with the prompts and the grading of the catalog."""

    name = "multi_if"
    is_multi_turn = True
