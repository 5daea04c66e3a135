"""Servers that nobody here wrote, for tests marked `real_server`.

`litellm_proxy` is LiteLLM's proxy with canned answers, from an environment of its own (`.venv-litellm`) that is
made when it is missing (see `environments`). The first use
installs some 370 MB, so such tests need a longer limit than others: mark them with `REAL_SERVER`.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.environments import ROOT, programs_of

CONFIGURATION = ROOT / "tests" / "recordings" / "litellm.yaml"
KEY = "sk-recorded-test-key"
START_LIMIT = 90.0

REAL_SERVER = [pytest.mark.real_server, pytest.mark.timeout(900)]


@dataclass(frozen=True)
class RealServer:
    """A running server. Its models are those of `recordings/litellm.yaml`, each with its one answer."""

    base_url: str
    key: str


@pytest.fixture(scope="session")
def litellm_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """LiteLLM's proxy on a free port of the loopback, for the whole session."""
    program = programs_of("litellm") / "litellm"
    with running(program, tmp_path_factory.mktemp("litellm")) as base_url:
        yield RealServer(base_url, KEY)


@contextmanager
def running(program: Path, directory: Path) -> Iterator[str]:
    """Starts the proxy, yields its base URL when it is healthy, and ends all its processes."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(program), "--config", str(CONFIGURATION), "--host", "127.0.0.1", "--port", str(port)]
    log = directory / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=environment(), cwd=directory, stdout=output, stderr=output, start_new_session=True
        )
    try:
        wait_until_healthy(f"http://127.0.0.1:{port}/health/liveliness", process, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        end(process)


def environment() -> dict[str, str]:
    """Nothing leaves the machine: no price table is fetched, nothing is reported, no proxy is asked."""
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**ours, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False", "NO_PROXY": "*"}


def wait_until_healthy(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    limit = time.monotonic() + START_LIMIT
    while process.poll() is None and time.monotonic() < limit:
        try:
            with direct.open(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"LiteLLM's proxy did not start:\n{log.read_text(errors='replace')[-4000:]}")


def end(process: subprocess.Popen[bytes]) -> None:
    """Asks the process and its children to end; makes them after ten seconds."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
