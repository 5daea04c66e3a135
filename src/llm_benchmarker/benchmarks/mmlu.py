"""MMLU."""

from __future__ import annotations

from benchwright.catalog.documented.from_catalog import CatalogBenchmark

__all__ = ["MMLUBenchmark"]


class MMLUBenchmark(CatalogBenchmark):
    """MMLU, as the catalog asks and grades it."""

    name = "mmlu"
