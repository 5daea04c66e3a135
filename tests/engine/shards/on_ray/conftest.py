"""A cluster of two Ray nodes on this machine, for all tests of this room."""

from __future__ import annotations

import signal
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

    handler = signal.getsignal(signal.SIGTERM)
    nodes = at_last(Cluster, initialize_head=True, head_node_args=LEAN)
    at_last(nodes.add_node, **LEAN)
    signal.signal(signal.SIGTERM, handler)  # Ray's would stay for the tests that follow
    yield nodes
    nodes.shutdown()


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()
