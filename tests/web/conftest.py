"""The browser and the program, as each test of this room gets them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.app.app_kit import Program
from tests.browser import started_chromium


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Chromium, for the tests of one module."""
    with started_chromium() as browser:
        yield browser


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """The program with a home of its own."""
    program = Program(tmp_path)
    yield program
    program.end()


@pytest.fixture(scope="module")
def shared_program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A program with one home for the tests of a module."""
    program = Program(tmp_path_factory.mktemp("viewed"))
    yield program
    program.end()
