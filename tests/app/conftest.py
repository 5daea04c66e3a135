"""The program, as each test of this room gets it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.app.eval_kit import Project, Server, logging_server
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


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An endpoint that says what it is asked, and logs it."""
    with logging_server(tmp_path_factory.mktemp("server") / "truth.jsonl") as server:
        yield server


@pytest.fixture
def project(program: Program) -> Project:
    """An agent, eval functions and six rows."""
    return Project(program)
