"""Replaces the base class of BFCL's memories, which stores memories in files between conversations.

Here the earlier content comes as `snapshot` in the configuration, and the new content is returned by the
server.
"""

from __future__ import annotations

from typing import Any


class MemoryAPI:
    """Base class of BFCL's memory classes."""

    def _prepare_snapshot(self, initial_config: dict[str, Any]) -> dict[str, Any] | None:
        """Return the memory's content from earlier conversations. Return None in the first conversation."""
        snapshot: dict[str, Any] | None = initial_config["snapshot"]
        return snapshot
