"""The browser and the program, as each test of this room gets them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.app.app_kit import Program
from tests.browser import started_chromium
from tests.web.web_kit import PATIENCE, Viewing, viewing


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


@pytest.fixture
def viewer(program: Program) -> Iterator[Viewing]:
    """The viewer over the runs of the program."""
    with viewing(program) as viewer:
        yield viewer


@pytest.fixture
def page(viewer: Viewing, chromium: Browser) -> Iterator[Page]:
    """The page of a browser that was let in, patient with runs at work; nothing on it may go wrong."""
    with viewer.browser(chromium) as watched:
        watched.page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        yield watched.page
        assert watched.troubles == []
