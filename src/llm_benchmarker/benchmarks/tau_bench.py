"""tau-bench."""

from __future__ import annotations

from benchwright.catalog.documented.from_catalog import CatalogBenchmark

__all__ = ["TauBenchBenchmark"]


class TauBenchBenchmark(CatalogBenchmark):
    """tau-bench, as the catalog asks and grades it."""

    name = "tau_bench"
    is_multi_turn = True
