"""Assembly of ARC-AGI-1; see `arc_agi`."""

from __future__ import annotations

from benchwright.catalog.arc_agi.benchmark import make

__all__ = ["make"]
