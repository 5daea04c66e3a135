"""What the tests of the simulated endpoint share: endpoints that end with the test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.endpoint.simulate.simulate_kit import Served, Simulate

from benchwright.endpoint.simulate import Settings


@pytest.fixture
def simulate() -> Iterator[Simulate]:
    """Starts an endpoint with the settings given, as keywords or whole; ends it after the test."""
    served: list[Served] = []

    def start(settings: Settings | None = None, **fields: Any) -> Served:
        served.append(Served(settings or Settings(**fields)))
        return served[-1]

    yield start
    for client in served:
        client.stop()
