"""Documented import path of the benchmark GraphWalks."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.from_catalog import CatalogBenchmark

__all__ = ["GraphWalksBenchmark"]


class GraphWalksBenchmark(CatalogBenchmark):
    """The benchmark GraphWalks with the prompts and the grading of the catalog."""

    name = "graphwalks"
