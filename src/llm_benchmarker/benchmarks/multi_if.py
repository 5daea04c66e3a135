"""Multi-IF."""

from __future__ import annotations

from benchwright.catalog.documented.from_catalog import CatalogBenchmark

__all__ = ["MultiIFBenchmark"]


class MultiIFBenchmark(CatalogBenchmark):
    """Multi-IF, as the catalog asks and grades it."""

    name = "multi_if"
    is_multi_turn = True
