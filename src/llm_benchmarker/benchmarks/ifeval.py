"""Documented import path of the benchmark IFEval."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.from_catalog import CatalogBenchmark

__all__ = ["IFEvalBenchmark"]


class IFEvalBenchmark(CatalogBenchmark):
    """The benchmark IFEval with the prompts and the grading of the catalog."""

    name = "ifeval"
