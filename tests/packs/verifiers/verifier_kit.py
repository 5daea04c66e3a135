"""Packs with verifiers for tests: their declarations, and a server that stands for one that the user runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.sandbox.docker.services import PORT, SERVER, write_context

from benchwright.packs.configuration import VerifierSettings
from benchwright.packs.manifest_types import CloudVerifier, CustomUrlVerifier, DockerVerifier, VerifierSpec
from benchwright.packs.types import VerifierMode
from benchwright.packs.verifiers import PackVerifiers


def docker_pack(folder: Path, name: str, start: str = SERVER, **more: Any) -> PackVerifiers:
    """A pack whose one verifier is built from its folder `verification`."""
    write_context(folder / "verification", start)
    declared = DockerVerifier(PORT, build_context="./verification", healthcheck_path="/health")
    spec = VerifierSpec("verifier", "docker", required=True, docker=declared)
    return PackVerifiers(name, "1.0.0", folder, [spec], **more)


def url_pack(
    mode: VerifierMode, url: str | None, path: str | None = "/health", **settings: Any
) -> PackVerifiers:
    """A pack whose one verifier is at an address that the user sets."""
    spec = VerifierSpec(
        "verifier",
        mode,
        required=True,
        cloud=CloudVerifier(None, path),
        custom_url=CustomUrlVerifier(None, path),
    )
    at: dict[str, Any] = {"cloud_url": url} if mode == "cloud" else {"custom_url": url}
    return PackVerifiers("pack", "1", Path(), [spec], {"verifier": VerifierSettings(**at, **settings)})


class UserServer:
    """A verifier that the user runs. Answers GETs of `/health` with `status`; None: takes them and is silent."""

    def __init__(self) -> None:
        self.url = ""
        self.status: int | None = 200
        self.asked = 0

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = await reader.readline()
            self.asked += 1
            if self.status is None:
                await reader.read()
            status = self.status if line.startswith(b"GET /health ") else 404
            writer.write(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % (status or 500))
            await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[UserServer]:
        """Serves at a free port of the loopback, at the same one again the second time."""
        port = int(self.url.rpartition(":")[2]) if self.url else 0
        server = await asyncio.start_server(self._answer, "127.0.0.1", port)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
