"""Stands in for the base class of BFCL's memories, which keeps them in files between conversations.

Here what was kept before comes with the configuration, as `snapshot`, and goes back by the server.
"""

from __future__ import annotations

from typing import Any


class MemoryAPI:
    """What all memories have."""

    def _prepare_snapshot(self, initial_config: dict[str, Any]) -> dict[str, Any] | None:
        """What was kept before; None at the beginning."""
        snapshot: dict[str, Any] | None = initial_config["snapshot"]
        return snapshot
