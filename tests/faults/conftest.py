"""The program, as each test of this room gets it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.app_kit import Program


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()
