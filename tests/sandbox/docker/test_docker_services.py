"""Services: built, published on the loopback, healthy, late, dead, kept."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sandbox.docker import stand_ins
from tests.sandbox.docker.services import PORT, SERVER, probe, write_context
from tests.sandbox.docker.stand_ins import IMAGE, docker

from benchwright.sandbox.docker import (
    Engine,
    EngineError,
    ServiceSpec,
    build_image,
    find_kept_services,
    start_service,
)
from benchwright.sandbox.docker.containers import MiB, Resources
from benchwright.sandbox.docker.dockerfile import content_digest


@pytest.fixture
def name() -> Iterator[str]:
    """An image name of the test's own; in the end no image has it."""
    name = f"benchwright-test/{secrets.token_hex(6)}"
    yield name
    for image in images_of(name):
        docker("rmi", "--force", image)


def images_of(name: str) -> list[str]:
    return docker("images", "--format", "{{.Repository}}:{{.Tag}}", name).split()


async def test_a_service_answers_at_a_port_of_the_loopback_only(
    engine: Engine, run_id: str, name: str, tmp_path: Path
) -> None:
    image = await build_image(engine, name, write_context(tmp_path), "1")
    async with start_service(engine, ServiceSpec(image, PORT), run_id) as service:
        await service.wait_until_healthy(probe)
        assert await probe(service.url) is None
        assert docker("port", service.container.name) == f"{PORT}/tcp -> 127.0.0.1:{service.port}"
    assert await probe(service.url) is not None


async def test_two_services_of_one_image_have_ports_of_their_own(
    engine: Engine, run_id: str, name: str, tmp_path: Path
) -> None:
    spec = ServiceSpec(await build_image(engine, name, write_context(tmp_path), "1"), PORT)
    async with (
        start_service(engine, spec, run_id) as first,
        start_service(engine, spec, run_id) as second,
    ):
        await asyncio.gather(first.wait_until_healthy(probe), second.wait_until_healthy(probe))
        assert first.port != second.port


async def test_health_that_comes_late_is_waited_for(
    engine: Engine, run_id: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwright.sandbox.docker.service.MESSAGE_INTERVAL", 1.0)
    said: list[str] = []
    image = await build_image(engine, name, write_context(tmp_path, f"sleep 1.5; {SERVER}"), "1")
    async with start_service(engine, ServiceSpec(image, PORT), run_id) as service:
        await service.wait_until_healthy(probe, 20, said.append)
    assert said[0].startswith("not healthy after 1 of 20 s: ")


async def test_health_that_never_comes_is_an_error_with_the_log(
    engine: Engine, run_id: str, name: str, tmp_path: Path
) -> None:
    context = write_context(tmp_path, "echo warming up; sleep 60")
    image = await build_image(engine, name, context, "1")
    began = time.monotonic()
    with pytest.raises(EngineError, match=r"^it was not healthy within 1 s: ") as told:
        async with start_service(engine, ServiceSpec(image, PORT), run_id) as service:
            await service.wait_until_healthy(probe, 1)
    assert told.value.log == "warming up\n"
    assert time.monotonic() - began < 4


async def test_a_wrong_answer_is_no_health(engine: Engine, run_id: str, name: str, tmp_path: Path) -> None:
    context = write_context(tmp_path)
    (context / "www" / "health").unlink()
    (context / "www" / "other").touch()
    image = await build_image(engine, name, context, "1")
    async with start_service(engine, ServiceSpec(image, PORT), run_id) as service:
        async with asyncio.timeout(60):
            while await probe(service.url) != "HTTP 404":
                await asyncio.sleep(0.1)
        with pytest.raises(EngineError, match="not healthy within 1 s: HTTP 404"):
            await service.wait_until_healthy(probe, 1)


async def test_a_service_that_dies_is_told_at_once_with_its_log(
    engine: Engine, run_id: str, name: str, tmp_path: Path
) -> None:
    image = await build_image(
        engine, name, write_context(tmp_path, "sleep 0.5; echo bad settings >&2; exit 3"), "1"
    )
    began = time.monotonic()
    with pytest.raises(EngineError, match="its container has ended with exit code 3") as told:
        async with start_service(engine, ServiceSpec(image, PORT), run_id) as service:
            await service.wait_until_healthy(probe)
    assert told.value.log == "bad settings\n"
    assert time.monotonic() - began < 10


async def test_a_service_that_takes_too_much_memory_is_told_as_that(
    engine: Engine, run_id: str, name: str, tmp_path: Path
) -> None:
    start = "exec dd if=/dev/zero of=/dev/null bs=200M count=1"
    image = await build_image(engine, name, write_context(tmp_path, start), "1")
    spec = ServiceSpec(image, PORT, resources=Resources(memory_bytes=64 * MiB))
    with pytest.raises(EngineError, match="exit code 137, out of memory"):
        async with start_service(engine, spec, run_id) as service:
            await service.wait_until_healthy(probe)


async def test_a_service_is_ended_where_it_fills_the_disk(
    engine: Engine, run_id: str, name: str, tmp_path: Path
) -> None:
    start = "for n in 1 2 3 4 5 6; do dd if=/dev/zero of=/$n bs=1M count=4; done; sleep 60"
    image = await build_image(engine, name, write_context(tmp_path, start), "1")
    spec = ServiceSpec(image, PORT, resources=Resources(disk_bytes=8 * MiB))
    async with start_service(engine, spec, run_id) as service, asyncio.timeout(15):
        while (trouble := await service.failure_reason()) is None:
            await asyncio.sleep(0.1)
    assert trouble == "its container was ended: it wrote more than 8 MiB"


async def test_a_service_reaches_this_machine(engine: Engine, run_id: str, name: str, tmp_path: Path) -> None:
    """What the relay needs: a server here, at the address that containers know as host.docker.internal."""
    address = await engine.host_listen_address()
    asked = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        writer.close()

    async with await asyncio.start_server(answer, address, 0) as server, asyncio.timeout(20):
        port = server.sockets[0].getsockname()[1]
        start = f"echo hello | nc host.docker.internal {port}; sleep 60"
        image = await build_image(engine, name, write_context(tmp_path, start), "1")
        async with start_service(engine, ServiceSpec(image, PORT), run_id):
            await asked.wait()


async def test_a_kept_service_is_found_again_until_it_is_removed(
    engine: Engine, name: str, tmp_path: Path
) -> None:
    image = await build_image(engine, name, write_context(tmp_path), "1")
    async with start_service(engine, ServiceSpec(image, PORT), "gone", kept_as=name) as service:
        await service.wait_until_healthy(probe)
        service.stays = True
    [found] = await find_kept_services(engine, name)
    try:
        assert (found.port, found.image) == (service.port, image)
        assert await probe(found.url) is None
    finally:
        await found.container.remove()
    assert await find_kept_services(engine, name) == []


async def test_nothing_is_built_twice(engine: Engine, name: str, tmp_path: Path) -> None:
    said: list[str] = []
    first = await build_image(engine, name, write_context(tmp_path), "1", said.append)
    assert said
    said.clear()
    assert await build_image(engine, name, tmp_path, "1", said.append) == first
    assert said == []


@pytest.mark.parametrize("change", ["version", "content"])
async def test_a_change_builds_anew_and_the_old_image_goes(
    engine: Engine, name: str, tmp_path: Path, change: str
) -> None:
    first = await build_image(engine, name, write_context(tmp_path), "1")
    if change == "content":
        (tmp_path / "start.sh").write_text(f"# changed\n{SERVER}")
    second = await build_image(engine, name, tmp_path, "2" if change == "version" else "1")
    assert second != first
    assert images_of(name) == [second]


@pytest.mark.parametrize(
    "change", ["none", "time", "version", "content", "name", "new file", "mode", "link", "target"]
)
def test_all_that_reaches_an_image_is_in_its_tag(tmp_path: Path, change: str) -> None:
    start = write_context(tmp_path) / "start.sh"
    (tmp_path / "to").symlink_to("start.sh")
    before = content_digest(tmp_path, "1")
    if change == "time":
        os.utime(start, (0, 0))
    elif change == "content":
        start.write_text(f"# changed\n{SERVER}")
    elif change == "name":
        start.rename(tmp_path / "begin.sh")
    elif change == "new file":
        (tmp_path / "www" / "more").touch()
    elif change == "mode":
        start.chmod(0o755)
    elif change == "link":
        (tmp_path / "www" / "link").symlink_to("health")
    elif change == "target":
        (tmp_path / "to").unlink()
        (tmp_path / "to").symlink_to("www")
    after = content_digest(tmp_path, "2" if change == "version" else "1")
    assert (after == before) == (change in ("none", "time"))


async def test_an_image_in_use_is_not_taken_from_others(
    engine: Engine, run_id: str, name: str, tmp_path: Path
) -> None:
    first = await build_image(engine, name, write_context(tmp_path), "1")
    async with start_service(engine, ServiceSpec(first, PORT), run_id) as service:
        await service.wait_until_healthy(probe)
        second = await build_image(engine, name, tmp_path, "2")
        assert await probe(service.url) is None
    assert second in images_of(name)


async def test_two_who_want_the_same_image_build_it_once(engine: Engine, name: str, tmp_path: Path) -> None:
    said: list[list[str]] = [[], []]
    context = write_context(tmp_path, dockerfile=f"FROM {IMAGE}\nRUN sleep 0.5\n")
    images = await asyncio.gather(*(build_image(engine, name, context, "1", mine.append) for mine in said))
    assert images[0] == images[1]
    waiting = "another process builds it; waiting"
    assert sorted(waiting in mine for mine in said) == [False, True]
    assert sorted(any("Step" in line or "Success" in line for line in mine) for mine in said) == [False, True]


async def test_a_build_that_fails_says_why_in_one_line(engine: Engine, name: str, tmp_path: Path) -> None:
    context = write_context(
        tmp_path, dockerfile=f"FROM {IMAGE}\nRUN echo made it this far\nRUN sh -c 'exit 5'\n"
    )
    with pytest.raises(
        EngineError, match=f"^building {name}:[0-9a-f]{{24}}: .*returned a non-zero code: 5$"
    ) as told:
        await build_image(engine, name, context, "1")
    assert "made it this far" in told.value.log
    assert images_of(name) == []


async def test_a_folder_without_dockerfile_is_named(engine: Engine, name: str, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=f"no Dockerfile to build in {tmp_path}"):
        await build_image(engine, name, tmp_path, "1")


async def test_a_base_image_that_is_not_there_is_told_as_that(
    engine: Engine, name: str, tmp_path: Path
) -> None:
    context = write_context(tmp_path, dockerfile="FROM 127.0.0.1:9/none:1\n")
    with pytest.raises(EngineError, match=r"127\.0\.0\.1:9"):
        await build_image(engine, name, context, "1")


async def test_a_build_that_takes_too_long_is_ended(engine: Engine, name: str, tmp_path: Path) -> None:
    context = write_context(tmp_path, dockerfile=f"FROM {IMAGE}\nRUN sleep 60\n")
    began = time.monotonic()
    with pytest.raises(EngineError, match="took longer than 1 s"):
        await build_image(engine, name, context, "1", seconds=1)
    assert time.monotonic() - began < 8
    assert await gone(f"benchwright.image={name}")


async def test_cancelling_a_build_ends_it(engine: Engine, name: str, tmp_path: Path) -> None:
    context = write_context(tmp_path, dockerfile=f"FROM {IMAGE}\nRUN echo building; sleep 60\n")
    begun = asyncio.Event()

    def say(said: str) -> None:
        if "building" in said.splitlines()[-1].split()[:1]:
            begun.set()

    building = asyncio.ensure_future(build_image(engine, name, context, "1", say))
    async with asyncio.timeout(20):
        await begun.wait()
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building
    assert await gone(f"benchwright.image={name}")


async def gone(label: str) -> bool:
    """Whether soon no container with this label is left."""
    for _ in range(50):
        if not stand_ins.containers(label):
            return True
        await asyncio.sleep(0.1)
    return False
