"""A directory and a home of its own for every test that runs something from Python, and servers that echo."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.eval_kit import Server, logging_server
from tests.simulated import simulated_endpoint

ROWS = 6


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a dataset `rows.jsonl` whose right answers are its prompts."""
    for name in list(os.environ):
        if name.startswith(("BENCHWRIGHT_", "OPENAI_")) and name != "BENCHWRIGHT_TEST_DATA":
            monkeypatch.delenv(name)
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OSMOSIS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    rows = ({"prompt": f"word{number}", "answer": f"word{number}"} for number in range(ROWS))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    agents_rows = (
        {"system_prompt": "s", "user_prompt": f"word{number}", "ground_truth": f"word{number}"}
        for number in range(ROWS)
    )
    (tmp_path / "agent_rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in agents_rows))
    return tmp_path


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
