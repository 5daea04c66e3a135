"""Nodes of a Ray cluster that are quick to start."""

from __future__ import annotations

from typing import Any

LEAN = {"num_cpus": 1, "include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
STARTS = 3
"""A node gives up when its helpers, Python programs all, take more than 15 s to start."""


def at_last(start: Any, *arguments: Any, **options: Any) -> Any:
    """What `start` returns, tried again where a node gives up."""
    for left in reversed(range(STARTS)):
        try:
            return start(*arguments, **options)
        except Exception:
            if not left:
                raise
    raise AssertionError
