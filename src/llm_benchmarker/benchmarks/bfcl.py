"""BFCL, the Berkeley Function Calling Leaderboard."""

from __future__ import annotations

from benchwright.catalog.documented.from_catalog import CatalogBenchmark

__all__ = ["BFCLBenchmark"]


class BFCLBenchmark(CatalogBenchmark):
    """BFCL, the Berkeley Function Calling Leaderboard, as the catalog asks and grades it."""

    name = "bfcl"
    is_multi_turn = True
