"""A server as a process of its own on a port of the loopback, which can be killed and started again at its address."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

ALONE = {"NO_PROXY": "*", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False"}
"""Nothing leaves the machine: no proxy is asked, no price table is fetched, nothing is reported."""

START_LIMIT = 300.0
"""Seconds that a server may take until it answers."""


class DidNotStart(Exception):
    """The server ended, or did not answer in time; the text is the end of its log."""


def free_port() -> int:
    """Return a port of the loopback that nobody uses at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def environment(**variables: str) -> dict[str, str]:
    """Return our environment with these variables, without our settings and what slows down other Pythons."""
    ours = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONDONTWRITEBYTECODE" and not name.startswith("BENCHWRIGHT_")
    }
    return {**ours, **ALONE, **variables}


class ServerProcess:
    """A server and its process group.

    `command` makes the command of a port; `health` is the path that answers once the server is ready.
    """

    def __init__(
        self,
        command: Callable[[int], Sequence[object]],
        directory: Path,
        *,
        health: str,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.log = directory / "log"
        self._command = [str(part) for part in command(self.port)]
        self._directory, self._health = directory, health
        self._variables = environment(**(variables or {}))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it answers.

        Raises:
            DidNotStart: If it ends, or does not answer within `START_LIMIT`.
        """
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                self._command,
                env=self._variables,
                cwd=self._directory,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        limit = time.monotonic() + START_LIMIT
        while self._process.poll() is None and time.monotonic() < limit:
            with suppress(OSError), direct.open(f"{self.address}{self._health}", timeout=5):
                return
            time.sleep(0.1)
        self.stop()
        raise DidNotStart(f"{self._command[0]} did not start:\n{self.text()[-4000:]}")

    def kill(self) -> None:
        """End all processes of the server at once, as `kill -9` does."""
        self._signal(signal.SIGKILL)

    def stop(self) -> None:
        """Ask the processes of the server to end; kill them after ten seconds."""
        self._signal(signal.SIGTERM)

    def text(self) -> str:
        """Return what the server has logged so far."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def _signal(self, number: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
