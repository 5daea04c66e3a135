"""A made-up instance with an image that stands in for the official one, on a real engine."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import write_rows
from tests.catalog.swe_bench.instance_images import make_instance
from tests.catalog.swe_bench_multilingual.multilingual_kit import make_instance_of
from tests.sandbox.docker import stand_ins
from tests.sandbox.docker.conftest import running_engine

__all__ = ["running_engine"]


@pytest.fixture(scope="session")
def sums(running_engine: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The row of the instance; its image is no other process's, and is gone afterwards."""
    folder = tmp_path_factory.mktemp("repository")
    row = make_instance_of(folder, 9_000_000 + secrets.randbelow(1_000_000))
    make_instance(row["image"], folder, django=False)
    yield row
    stand_ins.docker("rmi", row["image"])


@pytest.fixture
def sums_path(sums: dict[str, Any], tmp_path: Path) -> Path:
    """The row in a file."""
    return write_rows(tmp_path / "rows" / "test.jsonl", [sums])
