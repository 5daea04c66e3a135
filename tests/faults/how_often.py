"""How many cases the tests of this room try: a few in `make test`, many where FAULTS says so (`make faults`)."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

FACTOR = int(os.environ.get("FAULTS", "1"))


def tried(cases: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A property that is tried on so many cases, the same each time; or on that many times more, new ones each time."""
    return settings(
        max_examples=cases * FACTOR,
        deadline=None,
        database=None,
        derandomize=FACTOR == 1,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
