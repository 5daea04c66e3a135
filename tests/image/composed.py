"""The services of compose.yaml, started by the `docker` program alone: its plugin `compose` is not everywhere.

Only what that file uses is read. A port of the host is chosen by the engine instead of the one that the file names.
"""

from __future__ import annotations

import secrets
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import yaml  # type: ignore[import-untyped]
from tests.environments import ROOT
from tests.image.image_kit import build_image
from tests.sandbox.docker.stand_ins import docker, soon

READ = frozenset(
    {"build", "image", "init", "healthcheck", "depends_on", "command", "volumes", "ports", "security_opt"}
)


def services() -> dict[str, dict[str, Any]]:
    """Return the services that compose.yaml describes.

    Raises:
        AssertionError: If one has a key that is not read here.
    """
    found: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))[
        "services"
    ]
    for service in found.values():
        assert set(service) <= READ, sorted(set(service) - READ)
    return found


class Composed:
    """A network, a volume and the containers of the services, all with one name of their own."""

    def __init__(self) -> None:
        self.name = f"benchwright-test-{secrets.token_hex(4)}"
        self.services = services()

    def start(self, service: str) -> str:
        """Start a service in the background, wait until it is healthy, and return its container's name."""
        container = f"{self.name}-{service}"
        docker("run", "--detach", "--name", container, *self._arguments(service))
        if "healthcheck" in self.services[service]:
            _, *probe = self.services[service]["healthcheck"]["test"]
            assert soon(
                lambda: (
                    not subprocess.run(["docker", "exec", container, *probe], capture_output=True).returncode
                )
            )
        return container

    def run(self, service: str) -> subprocess.CompletedProcess[str]:
        """Run a service to its end; return what it printed."""
        command = ["docker", "run", "--rm", *self._arguments(service)]
        return subprocess.run(command, capture_output=True, text=True)

    def _arguments(self, service: str) -> list[str]:
        wanted = self.services[service]
        options = {
            "--security-opt": wanted.get("security_opt", []),
            "--volume": [self._volume(volume) for volume in wanted.get("volumes", [])],
            "--publish": [_on_any_port(port) for port in wanted.get("ports", [])],
        }
        return [
            *(
                "--network",
                self.name,
                "--network-alias",
                service,
                *(["--init"] if wanted.get("init") else []),
            ),
            *(word for option, values in options.items() for value in values for word in (option, value)),
            build_image(wanted["build"]["target"]),
            *shlex.split(wanted.get("command", "")),
        ]

    def _volume(self, volume: str) -> str:
        source, _, goal = volume.partition(":")
        return f"{ROOT / source if source.startswith('.') else self.name}:{goal}"


def _on_any_port(port: str) -> str:
    """Return a published port, on the same address of the host, with a port that the engine chooses."""
    address, _, inside = port.split(":")
    return f"{address}::{inside}"


@contextmanager
def composed() -> Iterator[Composed]:
    """What the services need before they start; all of it is removed in the end."""
    stack = Composed()
    docker("network", "create", stack.name)
    docker("volume", "create", stack.name)
    try:
        yield stack
    finally:
        for service in stack.services:
            subprocess.run(["docker", "rm", "--force", f"{stack.name}-{service}"], capture_output=True)
        docker("volume", "rm", stack.name)
        docker("network", "rm", stack.name)
