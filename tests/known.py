"""What may not exist, and does in this test."""

from __future__ import annotations

from typing import TypeVar

from benchwright.statistic import NoScore

T = TypeVar("T")


def known(value: T | NoScore | None) -> T:
    """Return the value, which must be there."""
    assert value is not None
    assert not isinstance(value, NoScore)
    return value
