"""The program, as each test of this room gets it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from app_kit import Program
from tests.simulated import simulated_endpoint


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()


@pytest.fixture(scope="session")
def echo() -> Iterator[str]:
    """The address of an endpoint that says what it is asked, at once."""
    with simulated_endpoint() as base_url:
        yield base_url
