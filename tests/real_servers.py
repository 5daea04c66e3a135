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
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock
from tests.environments import ROOT, programs_of

CONFIGURATION = ROOT / "tests" / "recordings" / "litellm.yaml"
KEY = "sk-recorded-test-key"
START_LIMIT = 90.0
OTHERS_SECONDS = 300.0
"""How long the process that started a server waits for the others."""

REAL_SERVER = [pytest.mark.real_server, pytest.mark.timeout(900)]


@dataclass(frozen=True)
class RealServer:
    """A running server. Its models are those of `recordings/litellm.yaml`, each with its one answer."""

    base_url: str
    key: str


@pytest.fixture(scope="session")
def litellm_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """LiteLLM's proxy on a free port of the loopback, for the whole session and all its processes."""
    program = programs_of("litellm") / "litellm"
    own = tmp_path_factory.getbasetemp()
    place = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with shared(place / "litellm", lambda: running(program, tmp_path_factory.mktemp("log"))) as base_url:
        yield RealServer(base_url, KEY)


@contextmanager
def shared(place: Path, start: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """The address of what the first process starts and the others use; it ends when none of them uses it any more."""
    place.mkdir(exist_ok=True)
    lock, address, user = FileLock(place / "lock"), place / "address", place / f"user-{os.getpid()}"
    with ExitStack() as stack:
        with lock:
            first = not address.exists()
            if first:
                address.write_text(stack.enter_context(start()))
            else:
                user.touch()
                stack.callback(user.unlink)
        yield address.read_text()
        if first:
            with lock:
                address.unlink()
            limit = time.monotonic() + OTHERS_SECONDS
            while list(place.glob("user-*")) and time.monotonic() < limit:
                time.sleep(0.1)


@contextmanager
def running(program: Path, directory: Path, configuration: Path = CONFIGURATION) -> Iterator[str]:
    """Starts the proxy, yields its base URL when it is healthy, and ends all its processes."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(program), "--config", str(configuration), "--host", "127.0.0.1", "--port", str(port)]
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
