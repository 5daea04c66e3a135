"""Documented import path of the benchmark tau-bench."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.from_catalog import CatalogBenchmark

__all__ = ["TauBenchBenchmark"]


class TauBenchBenchmark(CatalogBenchmark):
    """The benchmark tau-bench with the prompts and the grading of the catalog."""

    name = "tau_bench"
    is_multi_turn = True
