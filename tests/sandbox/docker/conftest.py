"""A real engine, and what every test of containers needs of it."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator

import pytest
from tests.sandbox.docker import stand_ins

from benchwright.sandbox.docker import DockerSandboxes, Engine, connect
from benchwright.sandbox.docker.ownership import RUN_LABEL


@pytest.fixture(scope="session")
def running_engine() -> Iterator[None]:
    """An engine that answers and has the stand-in image."""
    with stand_ins.engine_running():
        stand_ins.make_busybox()
        yield


@pytest.fixture
async def engine(running_engine: None) -> AsyncIterator[Engine]:
    async with connect() as engine:
        yield engine


@pytest.fixture
def run_id() -> Iterator[str]:
    """A run of the test's own, of which nothing may be left in the end."""
    run_id = f"test-{secrets.token_hex(6)}"
    yield run_id
    assert stand_ins.containers(f"{RUN_LABEL}={run_id}") == []


@pytest.fixture
def sandboxes(engine: Engine, run_id: str) -> DockerSandboxes:
    return DockerSandboxes(engine, run_id)
