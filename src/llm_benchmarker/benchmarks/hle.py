"""Documented import path of the benchmark Humanity's Last Exam."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.from_catalog import CatalogBenchmark

__all__ = ["HLEBenchmark"]


class HLEBenchmark(CatalogBenchmark):
    """The benchmark Humanity's Last Exam with the prompts and the grading of the catalog."""

    name = "hle"
