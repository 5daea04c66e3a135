"""A real engine, and the two instances with their images."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.catalog.swe_bench_pro.pro_kit import Data
from tests.sandbox.docker.conftest import engine, run_id, running_engine, sandboxes

__all__ = ["engine", "run_id", "running_engine", "sandboxes"]


@pytest.fixture(scope="session")
def pro_data(running_engine: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Data]:
    """Rows, run scripts and images of both instances."""
    data = Data(tmp_path_factory.mktemp("swe_bench_pro"))
    data.make_images()
    yield data
    data.remove_images()
