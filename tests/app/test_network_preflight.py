"""Before the first request it is told that tests need a network which is not there."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.catalog.catalog_kit import benchmark
from tests.catalog.harbor.harbor_kit import ENVIRONMENT, source, write_task
from tests.sandbox.egress.outside import Outside, WebServer, serving

from benchwright.app.network_preflight import warn_without_network
from benchwright.errors import UserError

FETCHES = "#!/bin/bash\ncurl -LsSf https://astral.sh/uv/install.sh | sh\nuvx pytest /tests\n"


async def unreached(host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    raise OSError("Network is unreachable")


def task(tasks: Path, name: str, *, mode: str = "public", fetches: bool = True) -> None:
    written = write_task(tasks, name, files={"tests/test.sh": FETCHES} if fetches else None)
    (written / "task.toml").write_text(ENVIRONMENT.replace("no-network", mode))


async def told(tasks: Path, *, online: bool = True, **options: str) -> list[str]:
    """What is said of these tasks."""
    said: list[str] = []
    tried = benchmark(f"harbor:{tasks}", options)
    samples = list(tried.samples(source(tasks)))
    async with serving(WebServer({})) as address:
        reach = Outside(address).connect if online else unreached
        await warn_without_network(tried, samples, said.append, reach)
    return said


async def test_nothing_is_said_where_the_network_is_there_or_not_needed(tmp_path: Path) -> None:
    task(tmp_path, "fetches")
    task(tmp_path, "own", mode="no-network", fetches=False)
    assert await told(tmp_path) == []


async def test_all_tasks_that_an_option_leaves_without_a_network_are_an_error(tmp_path: Path) -> None:
    task(tmp_path, "one")
    task(tmp_path, "two")
    with pytest.raises(UserError, match=r"all 2 tasks fetch by curl, uvx.*network=none.*leave it out"):
        await told(tmp_path, network="none")


async def test_some_of_them_are_a_warning_with_their_number(tmp_path: Path) -> None:
    task(tmp_path, "one")
    task(tmp_path, "two", fetches=False)
    (said,) = await told(tmp_path, network="none")
    assert "1 of 2 tasks" in said


async def test_a_machine_without_a_way_out_is_an_error(tmp_path: Path) -> None:
    task(tmp_path, "one")
    with pytest.raises(UserError, match=r"none of .*astral\.sh.* can be reached from this machine"):
        await told(tmp_path, online=False)


async def test_a_task_that_allows_no_network_itself_is_a_warning(tmp_path: Path) -> None:
    task(tmp_path, "one", mode="no-network")
    (said,) = await told(tmp_path, online=False)
    assert "the tasks allow no network" in said
