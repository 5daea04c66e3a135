"""The network of tasks in real containers: package mirrors and named hosts by a proxy that logs, and nothing else."""

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
from benchwright.catalog.containers.exploits import TERMINAL_EXPLOITS
from benchwright.records import Status
from benchwright.sandbox.egress import PACKAGE_MIRRORS

MIRROR = PACKAGE_MIRRORS["Debian"][0]
HELLO = f"http://{MIRROR}/hello"

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

FETCH_ELSEWHERE = (
    """python3 -c "import urllib.request; urllib.request.urlopen('http://elsewhere' + '.example/')" """
)
"""One that asks a host which it does not name."""


def fetch(url: str) -> str:
    return FETCH.format(url=url).strip()


def networked(tasks: Path, name: str, toml: str = "", *, mode: str = "public", test: str = "") -> None:
    """A task whose containers have a network."""
    task = write_task(tasks, name, files={"tests/test.sh": test} if test else None)
    (task / "task.toml").write_text(ENVIRONMENT.replace("no-network", mode) + toml)


def rewarded_if(test: str) -> str:
    """A script of tests whose reward is 1 where a command succeeds."""
    return f"#!/bin/bash\nif {test}; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"


async def run(
    tasks: Path, tmp_path: Path, *commands: str, pages: dict[str, bytes], sealed: bool = True, **options: str
) -> tuple[Played, list[bytes]]:
    """Runs tasks whose outside world is one small server; returns what came of them, and the requests it got."""
    server = WebServer(pages)
    (name,) = (path.name for path in tasks.iterdir())
    async with serving(server) as address:
        made = benchmark(f"harbor:{tasks}", options, sealed=sealed)
        assert isinstance(made, ContainerBenchmark)
        made = msgspec.structs.replace(made, create_egress_proxy=Outside(address).proxy)
        ended = await played(made, source(tasks), tmp_path, [script(f"Task {name}", *commands)])
    return ended, server.requests


def connections(ended: Played, sample: str) -> Sequence[tuple[Any, ...]]:
    """The log of a trial: phase, host, port, and whether it was allowed."""
    listed = ended.artifacts(sample)["network"]
    return [(one["phase"], one["host"], one["port"], one.get("allowed", True)) for one in listed]


async def test_an_agent_reaches_a_mirror_and_no_code_host_and_both_are_in_the_log(tmp_path: Path) -> None:
    networked(tmp_path / "tasks", "mirror")
    ended, requests = await run(
        tmp_path / "tasks",
        tmp_path,
        f"{fetch(HELLO)} > /app/hello.txt; {fetch('http://github.com/owner/project')}",
        pages={"/hello": b"hello\n"},
    )
    assert ended.values == {"mirror": 1.0}, ended.artifacts("mirror")
    assert connections(ended, "mirror") == [
        ("agent", MIRROR, 80, True),
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


async def test_tests_reach_hosts_that_their_own_scripts_name(tmp_path: Path) -> None:
    networked(
        tmp_path / "tasks",
        "named",
        test=rewarded_if(f"{fetch('http://data.example/set')} | grep -q '^data$'"),
    )
    ended, _ = await run(tmp_path / "tasks", tmp_path, "true", pages={"/set": b"data\n"})
    assert ended.values == {"named": 1.0}, ended.artifacts("named")
    assert connections(ended, "named") == [("tests", "data.example", 80, True)]


async def test_a_host_that_tests_are_refused_is_no_wrong_answer(tmp_path: Path) -> None:
    networked(tmp_path / "tasks", "refused", test=rewarded_if(FETCH_ELSEWHERE))
    ended, _ = await run(tmp_path / "tasks", tmp_path, "true", pages={})
    record = ended.trials["refused"].record
    assert (record.status, ended.trials["refused"].scores) == (Status.EXECUTION_ERROR, {})
    assert "the tests were refused elsewhere.example" in str(record.reason)
    assert "--option allow_hosts=elsewhere.example" in str(record.reason)


async def test_what_an_agent_leaves_running_has_no_network_while_the_tests_have_one(tmp_path: Path) -> None:
    """Tests share the loopback of the agent's container, and not their token."""
    looks = "for path in $(seq 300); do python3 /app/ask.py; sleep 0.1; done >/dev/null 2>&1 </dev/null &"
    ask = f"import urllib.request; urllib.request.urlopen('http://{MIRROR}/stolen', timeout=5)"
    networked(
        tmp_path / "tasks",
        "phases",
        '[verifier]\nnetwork_mode = "public"\n',
        mode="no-network",
        test=rewarded_if(f"sleep 1; {fetch(HELLO)} | grep -q hello"),
    )
    ended, requests = await run(
        tmp_path / "tasks",
        tmp_path,
        f'echo "{ask}" > /app/ask.py; ({looks})',
        pages={"/hello": b"hello\n", "/stolen": b"stolen\n"},
    )
    assert ended.values == {"phases": 1.0}, ended.artifacts("phases")
    assert {one for one in connections(ended, "phases") if one[0] == "agent"} == {
        ("agent", MIRROR, 80, False)
    }
    assert not [one for one in requests if b"stolen" in one]


@pytest.mark.parametrize("sealed", [True, False])
async def test_a_list_of_the_tasks_own_holds_with_and_without_a_seal(tmp_path: Path, sealed: bool) -> None:
    networked(tmp_path / "tasks", "listed", 'allowed_hosts = ["*.data.example"]\n', mode="allowlist")
    ended, _ = await run(
        tmp_path / "tasks",
        tmp_path,
        f"{fetch('http://a.data.example/hello')} > /app/hello.txt; {fetch(HELLO)}",
        pages={"/hello": b"hello\n"},
        sealed=sealed,
    )
    assert ended.values == {"listed": 1.0}, ended.artifacts("listed")
    assert connections(ended, "listed") == [
        ("agent", "a.data.example", 80, True),
        ("agent", MIRROR, 80, False),
    ]


async def test_tests_in_a_container_of_their_own_have_a_log_too(tmp_path: Path) -> None:
    networked(
        tmp_path / "tasks",
        "apart",
        '[verifier]\nenvironment_mode = "separate"\n',
        test=rewarded_if(f"{fetch(HELLO)} | grep -q hello"),
    )
    ended, _ = await run(tmp_path / "tasks", tmp_path, "true", pages={"/hello": b"hello\n"})
    assert ended.values == {"apart": 1.0}, ended.artifacts("apart")
    assert connections(ended, "apart") == [("tests", MIRROR, 80, True)]


async def test_options_add_hosts_and_mirrors(tmp_path: Path) -> None:
    networked(tmp_path / "tasks", "options")
    ended, _ = await run(
        tmp_path / "tasks",
        tmp_path,
        f"{fetch('http://more.example/hello')} > /app/hello.txt; echo $PIP_INDEX_URL; {fetch('$PIP_INDEX_URL')}",
        pages={"/hello": b"hello\n", "/simple": b"index\n"},
        allow_hosts="more.example",
        mirrors="pypi=http://mirror.example/simple",
    )
    assert ended.values == {"options": 1.0}
    assert connections(ended, "options") == [
        ("agent", "more.example", 80, True),
        ("agent", "mirror.example", 80, True),
    ]


async def test_retrieval_from_code_hosts_and_by_addresses_is_blocked_and_logged(tmp_path: Path) -> None:
    networked(tmp_path / "tasks", "retrieval")
    names = ("a raw file of a code host", "a server by its address")
    commands = [command for one in TERMINAL_EXPLOITS if one.name in names for command in one.commands]
    ended, requests = await run(tmp_path / "tasks", tmp_path, *commands, pages={})
    assert (ended.values, requests) == ({"retrieval": 0.0}, [])
    refused = {host for _, host, _, allowed in connections(ended, "retrieval") if not allowed}
    assert refused == {"raw.githubusercontent.com", "140.82.112.3", "169.254.169.254"}


async def test_a_server_of_the_agents_is_reached_by_programs_that_know_no_exceptions_from_a_proxy(
    tmp_path: Path,
) -> None:
    ask = "busybox wget -q -O - http://localhost:8000/index.html | grep -qx hello"
    networked(tmp_path / "tasks", "server", test=rewarded_if(ask))
    serve = (
        "mkdir /w; echo hello > /w/index.html; (busybox httpd -f -p 8000 -h /w >/dev/null 2>&1 &); sleep 0.5"
    )
    ended, _ = await run(tmp_path / "tasks", tmp_path, f"{serve}; {ask} && echo reached", pages={})
    assert ended.artifacts("server")["commands"][0]["output"] == "reached\n"
    assert ended.values == {"server": 1.0}
    assert ended.artifacts("server")["network"] == []
