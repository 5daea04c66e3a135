"""The engine of the tests of containers, and packs whose images and containers go with the test."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
from tests.sandbox.docker.conftest import run_id, running_engine
from tests.sandbox.docker.stand_ins import containers, docker

from benchwright.packs.verifiers.verifier_location import image_name, kept_container_name
from benchwright.sandbox.docker.ownership import KEPT_LABEL

__all__ = ["name", "run_id", "running_engine"]


@pytest.fixture
def name(running_engine: None) -> Iterator[str]:
    """The id of a pack whose verifier is called "verifier"; in the end it has no image and no container."""
    name = f"pack-{secrets.token_hex(4)}"
    yield name
    for container in containers(f"{KEPT_LABEL}={kept_container_name(name, 'verifier')}"):
        docker("rm", "--force", container)
    for image in docker("images", "--quiet", image_name(name, "verifier")).split():
        docker("rmi", "--force", image)
