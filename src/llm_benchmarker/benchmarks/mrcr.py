"""Documented import path of the benchmark MRCR."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.from_catalog import CatalogBenchmark

__all__ = ["MRCRBenchmark"]


class MRCRBenchmark(CatalogBenchmark):
    """The benchmark MRCR with the prompts and the grading of the catalog."""

    name = "mrcr"
