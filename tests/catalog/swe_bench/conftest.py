"""Two made-up instances with images that stand in for the official ones, on a real engine."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.catalog.catalog_kit import write_rows
from tests.catalog.swe_bench.instance_images import make_instance
from tests.catalog.swe_bench.instances import image_of, make_django_instance, make_pytest_instance
from tests.sandbox.docker import stand_ins
from tests.sandbox.docker.conftest import running_engine

__all__ = ["running_engine"]


@pytest.fixture(scope="session")
def swe_bench_rows(
    running_engine: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[dict[str, Any]]]:
    """The rows of the two instances; their images are no other process's, and are gone afterwards."""
    number = 9_000_000 + secrets.randbelow(1_000_000)
    rows = []
    for make in (make_pytest_instance, make_django_instance):
        folder = tmp_path_factory.mktemp("repository")
        rows.append(make(folder, number))
        make_instance(image_of(rows[-1]), folder, django=make is make_django_instance)
    yield rows
    for row in rows:
        stand_ins.docker("rmi", image_of(row))


@pytest.fixture
def swe_bench_path(swe_bench_rows: list[dict[str, Any]], tmp_path: Path) -> Path:
    """The rows in a file."""
    return write_rows(tmp_path / "rows" / "test.jsonl", swe_bench_rows)
