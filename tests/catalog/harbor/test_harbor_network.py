"""The network of sealed tasks in real containers: package mirrors and named hosts by a proxy that logs, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.catalog.catalog_kit import benchmark
from tests.catalog.containers.running import Played, played
from tests.catalog.harbor.harbor_kit import ENVIRONMENT, script, source, write_task
from tests.sandbox.egress.outside import Outside, WebServer, serving

from benchwright.catalog.containers import ContainerBenchmark

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.usefixtures("nothing_left")]

FETCH = """python3 -c "
import sys, urllib.request
try:
    print(urllib.request.urlopen('{url}', timeout=20).read().decode().strip())
except OSError as error:
    print(type(error).__name__, error)
    sys.exit(1)
" """
"""A command that prints what a URL holds."""


def fetch(url: str) -> str:
    return FETCH.format(url=url).strip()


def public(tasks: Path, name: str, toml: str = "", **files: str) -> Path:
    """A task whose containers have the public network."""
    task = write_task(tasks, name, files={path: text for path, text in files.items()})
    opened = ENVIRONMENT.replace("no-network", "public")
    (task / "task.toml").write_text(f"{opened}{toml}")
    return task


async def run(
    tasks: Path, tmp_path: Path, *commands: str, pages: dict[str, bytes], sealed: bool = True, **options: str
) -> tuple[Played, list[bytes]]:
    """Runs tasks whose outside world is one small server; returns what came of them, and the requests it got."""
    server = WebServer(pages)
    (name,) = (path.name for path in tasks.iterdir())
    async with serving(server) as address:
        made = benchmark(f"harbor:{tasks}", options, sealed=sealed)
        assert isinstance(made, ContainerBenchmark)
        made = msgspec.structs.replace(made, egress=Outside(address).proxy)
        ended = await played(made, source(tasks), tmp_path, [script(f"Task {name}", *commands)])
    return ended, server.requests


def connections(ended: Played, sample: str) -> Sequence[tuple[Any, ...]]:
    """The log of a trial: phase, host, port, and whether it was allowed."""
    listed = ended.artifacts(sample)["network"]
    return [(one["phase"], one["host"], one["port"], one.get("allowed", True)) for one in listed]


async def test_an_agent_reaches_a_mirror_and_no_code_host_and_both_are_in_the_log(tmp_path: Path) -> None:
    public(tmp_path / "tasks", "mirror")
    ended, requests = await run(
        tmp_path / "tasks",
        tmp_path,
        f"{fetch('http://pypi.org/hello')} > /app/hello.txt; {fetch('http://github.com/owner/project')}",
        pages={"/hello": b"hello\n"},
    )
    assert ended.values == {"mirror": 1.0}, ended.artifacts("mirror")
    assert connections(ended, "mirror") == [
        ("agent", "pypi.org", 80, True),
        ("agent", "github.com", 80, False),
    ]
    assert len(requests) == 1
    assert ended.detail("mirror")["flags"] == [
        {"kind": "asks_refused_hosts", "evidence": "github.com:80 was refused by the proxy"}
    ]
    assert ended.detail("mirror")["network"] == {
        "connections": 2,
        "refused": 1,
        "refused_hosts": ["github.com"],
    }
