"""Requests that real command-line agents have made, and what they were answered; see their SOURCE.md."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

RECORDED = Path(
    os.environ.get("BENCHWRIGHT_TEST_DATA", Path(__file__).parents[1].parent / "shared/data"), "harnesses"
)


def recorded(agent: str) -> list[dict[str, Any]]:
    """The exchanges of an agent, each with `request` and `response`; skips the test where they are not there."""
    path = RECORDED / f"{agent}.jsonl"
    if not path.exists():
        pytest.skip(f"no recorded requests at {path}; set BENCHWRIGHT_TEST_DATA")
    return [json.loads(line) for line in path.read_text().splitlines()]
