"""Documented import path of the benchmark MMLU."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.from_catalog import CatalogBenchmark

__all__ = ["MMLUBenchmark"]


class MMLUBenchmark(CatalogBenchmark):
    """The benchmark MMLU with the prompts and the grading of the catalog."""

    name = "mmlu"
