"""Servers that nobody here wrote, for tests marked `real_server`.

`litellm_proxy` is LiteLLM's proxy with canned answers, from an environment of its own (`.venv-litellm`) that is
made when it is missing (see `environments`). The first use
installs some 370 MB, so such tests need a longer limit than others: mark them with `REAL_SERVER`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock
from tests.environments import ROOT, programs_of
from tests.server_process import DidNotStart, ServerProcess

CONFIGURATION = ROOT / "tests" / "recordings" / "litellm.yaml"
KEY = "sk-recorded-test-key"
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
    """Start the proxy, yield its base URL when it is healthy, and end all its processes."""
    command = [program, "--config", configuration, "--host", "127.0.0.1", "--port"]
    proxy = ServerProcess(lambda port: [*command, port], directory, health="/health/liveliness")
    try:
        proxy.start()
    except DidNotStart as error:
        pytest.fail(str(error))
    try:
        yield f"{proxy.address}/v1"
    finally:
        proxy.stop()
