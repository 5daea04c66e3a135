"""A cluster of two Ray nodes on this machine, for all tests of this room."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.engine.shards.on_ray.ray_nodes import LEAN, at_last


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Two nodes of one CPU each, on this machine."""
    from ray.cluster_utils import Cluster

    nodes = at_last(Cluster, initialize_head=True, head_node_args=LEAN)
    at_last(nodes.add_node, **LEAN)
    yield nodes
    nodes.shutdown()


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()
