"""How many cases the tests of this room try: a few in `make test`, many where FAULTS says so (`make faults`)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

FACTOR = int(os.environ.get("FAULTS", "1"))
SECONDS = 120
"""What a property may take for each time that its cases are tried."""

CASES: Counter[str] = Counter()
"""How many cases the test under way has tried, of each kind."""


def tried(cases: int, of: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A property that is tried on so many cases, the same each time; or on that many times more, new ones each time.

    `of` is the argument that says of what kind a case is. Nothing is shrunk: most cases are processes, and hardly two
    of them end alike.
    """
    often = settings(
        max_examples=cases * FACTOR,
        deadline=None,
        database=None,
        derandomize=FACTOR == 1,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )

    def property_of(test: Any) -> Callable[..., Any]:
        test.hypothesis.inner_test = _counted(test.hypothesis.inner_test, of)
        limited: Callable[..., Any] = pytest.mark.timeout(SECONDS * FACTOR)(often(test))
        return limited

    return property_of


def _counted(case: Callable[..., None], of: str | None) -> Callable[..., None]:
    @wraps(case)
    def counted(*given: Any, **named: Any) -> None:
        CASES[str(named[of]) if of else ""] += 1
        case(*given, **named)

    return counted
