"""A journal for each test of this room."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.cache.cache_kit import HandWritten


@pytest.fixture
def journal(tmp_path: Path) -> HandWritten:
    return HandWritten(tmp_path / "run")
