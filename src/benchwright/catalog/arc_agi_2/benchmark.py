"""ARC-AGI-2 put together: see `arc_agi`."""

from __future__ import annotations

from benchwright.catalog.arc_agi.benchmark import make

__all__ = ["make"]
