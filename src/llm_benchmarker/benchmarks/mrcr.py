"""MRCR."""

from __future__ import annotations

from benchwright.catalog.documented.from_catalog import CatalogBenchmark

__all__ = ["MRCRBenchmark"]


class MRCRBenchmark(CatalogBenchmark):
    """MRCR, as the catalog asks and grades it."""

    name = "mrcr"
