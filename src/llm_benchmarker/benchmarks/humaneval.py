"""HumanEval."""

from __future__ import annotations

from benchwright.catalog.documented.from_catalog import CatalogBenchmark

__all__ = ["HumanEvalBenchmark"]


class HumanEvalBenchmark(CatalogBenchmark):
    """HumanEval, as the catalog asks and grades it."""

    name = "humaneval"
