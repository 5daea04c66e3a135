"""Replaces the base class of BFCL's memories, which keeps them in files between conversations.

Here the earlier content comes with the configuration, as `snapshot`, and goes back through the server.
"""

from __future__ import annotations

from typing import Any


class MemoryAPI:
    """The base class of all memories."""

    def _prepare_snapshot(self, initial_config: dict[str, Any]) -> dict[str, Any] | None:
        """Return the earlier content; None at the beginning."""
        snapshot: dict[str, Any] | None = initial_config["snapshot"]
        return snapshot
