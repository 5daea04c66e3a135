"""What may be None and is not in this test."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def known(value: T | None) -> T:
    """The value, which must be there."""
    assert value is not None
    return value
