"""IFEval."""

from __future__ import annotations

from benchwright.catalog.documented.from_catalog import CatalogBenchmark

__all__ = ["IFEvalBenchmark"]


class IFEvalBenchmark(CatalogBenchmark):
    """IFEval, as the catalog asks and grades it."""

    name = "ifeval"
