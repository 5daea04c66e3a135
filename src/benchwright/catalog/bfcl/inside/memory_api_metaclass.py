"""Replaces the base class of BFCL's memories, which stores them in files between conversations.

Here the earlier content comes as `snapshot` in the configuration, and is returned through the server.
"""

from __future__ import annotations

from typing import Any


class MemoryAPI:
    """Base class of BFCL's memory classes."""

    def _prepare_snapshot(self, initial_config: dict[str, Any]) -> dict[str, Any] | None:
        """Return the content from earlier conversations; None in the first conversation."""
        snapshot: dict[str, Any] | None = initial_config["snapshot"]
        return snapshot
