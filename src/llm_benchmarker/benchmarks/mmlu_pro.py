"""MMLU-Pro."""

from __future__ import annotations

from benchwright.catalog.documented.from_catalog import CatalogBenchmark

__all__ = ["MMLUProBenchmark"]


class MMLUProBenchmark(CatalogBenchmark):
    """MMLU-Pro, as the catalog asks and grades it."""

    name = "mmlu_pro"
