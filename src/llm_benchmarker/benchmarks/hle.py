"""Humanity's Last Exam."""

from __future__ import annotations

from benchwright.catalog.documented.from_catalog import CatalogBenchmark

__all__ = ["HLEBenchmark"]


class HLEBenchmark(CatalogBenchmark):
    """Humanity's Last Exam, as the catalog asks and grades it."""

    name = "hle"
