"""A real engine with an image of bash, and containers that tests share: starting one takes longer than most tests."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio
from tests.catalog.containers.work_kit import Places, make_bash_image
from tests.sandbox.docker import stand_ins
from tests.sandbox.docker.conftest import engine, run_id, running_engine, sandboxes

from benchwright.sandbox.docker import DockerSandboxes, connect
from benchwright.sandbox.docker.ownership import RUN_LABEL

__all__ = ["engine", "run_id", "running_engine", "sandboxes"]


@pytest.fixture(scope="session")
def bash_image(running_engine: None) -> None:
    """The image with bash is there."""
    make_bash_image()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def places(bash_image: None) -> AsyncIterator[Places]:
    """Where the tests of a module work; nothing is left of it."""
    run_id = f"test-{secrets.token_hex(6)}"
    async with connect() as engine, AsyncExitStack() as stack:
        yield Places(DockerSandboxes(engine, run_id), stack)
    assert stand_ins.containers(f"{RUN_LABEL}={run_id}") == []
