"""How the engine is found, and what is said where there is none that can be used."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from tests.sandbox.docker import stand_ins
from tests.sandbox.docker.stand_ins import IMAGE, docker

from benchwright.errors import UserError
from benchwright.sandbox.docker import (
    DockerSandboxes,
    Engine,
    EngineError,
    EngineUnavailable,
    ImageProvider,
    SandboxSpec,
    ServiceSpec,
    check_disk_space,
    connect,
    start_service,
)
from benchwright.sandbox.docker.address import EngineAddress
from benchwright.sandbox.docker.errors import engine_error
from benchwright.sandbox.docker.ownership import RUN_LABEL


async def test_no_engine_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        EngineUnavailable, match=r"^Docker is not installed: .*none.sock. Install it \(.*DOCKER_HOST.$"
    ) as told:
        async with connect():
            pass
    assert told.value.kind == "missing"


async def test_an_engine_that_does_not_run_is_told_as_that(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as left_over:
        left_over.bind(str(path))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
    with pytest.raises(
        EngineUnavailable, match=r"^Docker is not running: nothing answers at .*Start it"
    ) as told:
        async with connect():
            pass
    assert told.value.kind == "not_running"


async def test_an_address_where_nothing_listens_is_told_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{port}")
    with pytest.raises(EngineUnavailable, match=f"not running: nothing answers at tcp://127.0.0.1:{port}"):
        async with connect():
            pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else for a moment")
async def test_a_user_who_may_not_use_it_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as closed:
        closed.bind(str(path))
        closed.listen()
        path.chmod(0o600)
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        os.seteuid(65534)
        try:
            with pytest.raises(EngineUnavailable, match="usermod -aG docker") as told:
                async with connect():
                    pass
        finally:
            os.seteuid(0)
    assert told.value.kind == "no_permission"


async def test_a_docker_context_is_followed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    docker("context", "create", "here", "--docker", f"host={engine.address.host}")
    docker("context", "use", "here")
    async with connect() as found:
        assert (found.address.context, found.address.host) == ("here", engine.address.host)
        assert found.information["ID"] == engine.information["ID"]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
async def test_a_docker_context_with_certificates_is_followed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Both sides ask the other for a certificate; what listens is a door to the real engine."""
    both, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=engine -addext subjectAltName=IP:127.0.0.1"
    subprocess.run([*command.split(), "-keyout", key, "-out", both], check=True, capture_output=True)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=both)
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_cert_chain(both, key)
    door = Door(engine.address.host.removeprefix("unix://"))
    server = await asyncio.start_server(door.carry, "127.0.0.1", 0, ssl=tls)
    host = f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    docker("context", "create", "far", "--docker", f"host={host},ca={both},cert={both},key={key}")
    monkeypatch.setenv("DOCKER_CONTEXT", "far")
    async with connect() as found:
        assert found.information["ID"] == engine.information["ID"]
        assert not found.address.is_local
    door.shut()
    server.close()


async def test_a_docker_context_that_is_not_there_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    monkeypatch.setenv("DOCKER_CONTEXT", "gone")
    with pytest.raises(UserError, match=r"The docker context 'gone' cannot be read .*`docker context ls`"):
        async with connect():
            pass


async def test_an_image_that_cannot_be_pulled_is_named(engine: Engine) -> None:
    """Port 9 of the loopback: a registry that is not there."""
    with pytest.raises(EngineError, match=r"pulling the image 127.0.0.1:9/none:1: .*127.0.0.1:9"):
        await ImageProvider(engine).provide("127.0.0.1:9/none:1")


async def test_an_image_that_is_there_is_not_pulled(engine: Engine) -> None:
    said: list[str] = []
    await ImageProvider(engine).provide(IMAGE, said.append)
    assert said == []


async def test_a_service_needs_an_engine_on_this_machine(engine: Engine) -> None:
    other = Engine(engine.client, EngineAddress("tcp://engine.example:2376"), engine.information)
    with pytest.raises(EngineError, match=r"tcp://engine\.example:2376 is remote; unset DOCKER_HOST"):
        async with start_service(other, ServiceSpec(IMAGE, 80), "run"):
            pass


async def test_too_little_room_is_told_before_anything_is_started(engine: Engine) -> None:
    check_disk_space(engine, 1)
    with pytest.raises(EngineError, match=r"GiB left in .*, but 1000000.0 GiB are needed") as told:
        check_disk_space(engine, 10**6 * 2**30)
    assert told.value.kind == "disk_full"


async def test_an_engine_that_stops_in_the_middle_is_told_as_that(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run_id: str
) -> None:
    """A door to the real engine that is shut: what is behind it goes on, and is removed at the next start."""
    door = Door(engine.address.host.removeprefix("unix://"))
    server = await asyncio.start_unix_server(door.carry, tmp_path / "door.sock")

    async def use() -> None:
        async with (
            connect() as engine,
            DockerSandboxes(engine, run_id).start(SandboxSpec(IMAGE)) as sandbox,
        ):
            asyncio.get_running_loop().call_later(0.3, server.close)
            asyncio.get_running_loop().call_later(0.5, door.shut)
            await sandbox.run(["sleep", "60"], seconds=60)

    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/door.sock")
    with pytest.raises(EngineUnavailable, match="Docker is not running") as told:
        await use()
    monkeypatch.undo()
    assert told.value.kind == "not_running"
    [left] = stand_ins.containers(f"{RUN_LABEL}={run_id}")
    docker("rm", "--force", left)


class Door:
    """Carries what goes to and from a socket, until it is shut."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._writers: list[asyncio.StreamWriter] = []

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, to_behind = await asyncio.open_unix_connection(self._path)
        self._writers += [writer, to_behind]
        await asyncio.gather(self._one_way(reader, to_behind), self._one_way(behind, writer))

    async def _one_way(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(2**16):
                writer.write(piece)
                await writer.drain()
        except OSError:
            pass
        writer.close()

    def shut(self) -> None:
        for writer in self._writers:
            writer.close()


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (500, "write /var/lib/docker/x: no space left on device", "disk_full"),
        (404, "No such image: x:1", "image_missing"),
        (0, "manifest for x:1 not found: manifest unknown", "image_missing"),
        (900, "Cannot connect to Docker Engine", "not_running"),
        (409, "Conflict", "failed"),
    ],
)
def test_what_the_engine_says_is_told_apart(status: int, said: str, kind: str) -> None:
    error = engine_error("doing something", status, said)
    assert error.kind == kind
    assert "doing something" in str(error)
    assert "\n" not in str(error)
