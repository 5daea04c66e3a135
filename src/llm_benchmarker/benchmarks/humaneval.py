"""Documented import path of the benchmark HumanEval."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.from_catalog import CatalogBenchmark

__all__ = ["HumanEvalBenchmark"]


class HumanEvalBenchmark(CatalogBenchmark):
    """The benchmark HumanEval with the prompts and the grading of the catalog."""

    name = "humaneval"
