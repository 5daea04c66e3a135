"""GraphWalks."""

from __future__ import annotations

from benchwright.catalog.documented.from_catalog import CatalogBenchmark

__all__ = ["GraphWalksBenchmark"]


class GraphWalksBenchmark(CatalogBenchmark):
    """GraphWalks, as the catalog asks and grades it."""

    name = "graphwalks"
