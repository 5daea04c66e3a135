"""Documented import path of the benchmark MMLU-Pro."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.from_catalog import CatalogBenchmark

__all__ = ["MMLUProBenchmark"]


class MMLUProBenchmark(CatalogBenchmark):
    """The benchmark MMLU-Pro with the prompts and the grading of the catalog."""

    name = "mmlu_pro"
