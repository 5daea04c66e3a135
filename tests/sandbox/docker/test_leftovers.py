"""What a killed process leaves behind is removed at its end or at the next start; what belongs to others stays."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.sandbox.docker import stand_ins
from tests.sandbox.docker.services import write_context
from tests.sandbox.docker.stand_ins import IMAGE, docker, soon

from benchwright.sandbox.docker import DockerSandboxes, Engine, SandboxSpec, remove_leftovers
from benchwright.sandbox.docker.containers import Container
from benchwright.sandbox.docker.dockerfile import with_label
from benchwright.sandbox.docker.ownership import (
    BUILT_FOR_LABEL,
    KEPT_LABEL,
    PROCESS_LABEL,
    RUN_LABEL,
    SNAPSHOT_LABEL,
    is_leftover,
    ownership_labels,
    unique_process_id,
)
from benchwright.sandbox.docker.snapshots import temporary_snapshot

SLEEPING = """
import asyncio, sys
from benchwright.sandbox.docker import DockerSandboxes, SandboxSpec, connect

async def main():
    async with connect() as engine:
        async with DockerSandboxes(engine, {run_id!r}).start(SandboxSpec({image!r})):
            print("started", flush=True)
            await asyncio.sleep(60)

asyncio.run(main())
"""

BUILDING = """
import asyncio
from pathlib import Path
from benchwright.sandbox.docker import build_image, connect

async def main():
    async with connect() as engine:
        await build_image(engine, {name!r}, Path({context!r}), "1", lambda said: print(said, flush=True))

asyncio.run(main())
"""


SNAPSHOT_TAKEN = """
import asyncio
from benchwright.sandbox.docker import DockerSandboxes, SandboxSpec, connect
from benchwright.sandbox.docker.snapshots import temporary_snapshot

async def main():
    async with connect() as engine:
        async with DockerSandboxes(engine, {run_id!r}).start(SandboxSpec({image!r})) as sandbox:
            async with temporary_snapshot(engine, sandbox.container, {run_id!r}) as image:
                spec = SandboxSpec(image, network_container=sandbox.container.name)
                async with DockerSandboxes(engine, {run_id!r}).start_sharing_network(spec):
                    print("started", flush=True)
                    await asyncio.sleep(60)

asyncio.run(main())
"""


@contextmanager
def other_process(source: str) -> Iterator[subprocess.Popen[str]]:
    """A process of Benchwright; killed in the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(source)], stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def container(**labels: str) -> Iterator[str]:
    """A container that somebody else started with these labels."""
    options = [f"--label={name}={value}" for name, value in labels.items()]
    name = docker("run", "--detach", *options, IMAGE, "sleep", "100")
    try:
        yield name
    finally:
        subprocess.run(["docker", "rm", "--force", name], capture_output=True)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def exists(name: str) -> bool:
    return bool(docker("ps", "--all", "--quiet", "--filter", f"id={name}"))


def volumes_of(name: str) -> list[str]:
    """The names of a container's volumes."""
    return docker("inspect", "--format", "{{range .Mounts}}{{.Name}} {{end}}", name).split()


def left_of(run_id: str) -> str:
    """The containers, snapshots and networks of a run, by their ids."""
    ours = ("--quiet", "--filter", f"label={RUN_LABEL}={run_id}")
    return docker("ps", "--all", *ours) + docker("images", *ours) + docker("network", "ls", *ours)


async def test_an_interrupt_leaves_neither_a_snapshot_nor_a_container_of_it(
    engine: Engine, run_id: str
) -> None:
    with other_process(SNAPSHOT_TAKEN.format(run_id=run_id, image=IMAGE)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        assert left_of(run_id) != ""
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert left_of(run_id) == ""


async def test_kill_9_leaves_a_snapshot_and_a_container_of_it_that_the_next_start_removes(
    engine: Engine, run_id: str
) -> None:
    ours = (
        "images",
        "--quiet",
        "--filter",
        f"label={SNAPSHOT_LABEL}",
        "--filter",
        f"label={RUN_LABEL}={run_id}",
    )
    with other_process(SNAPSHOT_TAKEN.format(run_id=run_id, image=IMAGE)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        (snapshot,) = docker(*ours).split()
        await remove_leftovers(engine)
        assert docker(*ours) == snapshot, "its process lives"
    await remove_leftovers(engine)
    assert docker(*ours) == ""
    assert docker("ps", "--all", "--quiet", "--filter", f"label={RUN_LABEL}={run_id}") == ""


async def test_a_snapshot_of_an_image_that_we_built_stays_as_long_as_it_is_needed(engine: Engine) -> None:
    snapshots = ("images", "--quiet", "--no-trunc", "--filter", f"label={SNAPSHOT_LABEL}")
    with container(**{BUILT_FOR_LABEL: "benchwright/test-snapshot"}) as name:
        handle = engine.client.containers.container(name)
        async with temporary_snapshot(engine, Container(name, handle), "test-snapshot") as image:
            await remove_leftovers(engine)
            assert image in docker(*snapshots)
        assert image not in docker(*snapshots)


async def test_kill_9_leaves_a_container_that_the_next_start_removes(engine: Engine, run_id: str) -> None:
    """If its watching process is killed, too."""
    with other_process(SLEEPING.format(run_id=run_id, image=IMAGE)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        [left] = stand_ins.containers(f"{RUN_LABEL}={run_id}")
        assert left not in await remove_leftovers(engine)
        for watching in children(process.pid):
            os.kill(watching, signal.SIGKILL)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert left in await remove_leftovers(engine)
    assert stand_ins.containers(f"{RUN_LABEL}={run_id}") == []


@pytest.mark.parametrize("source", [SLEEPING, SNAPSHOT_TAKEN], ids=["container", "snapshot"])
def test_kill_9_ends_the_containers_of_a_process_without_another_start(
    running_engine: None, run_id: str, source: str
) -> None:
    with other_process(source.format(run_id=run_id, image=IMAGE)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        assert left_of(run_id) != ""
        process.send_signal(signal.SIGKILL)
    assert soon(lambda: left_of(run_id) == "")


def test_kill_9_spares_the_containers_of_a_process_that_lives(running_engine: None, run_id: str) -> None:
    source = SLEEPING.format(run_id=run_id, image=IMAGE)
    with other_process(source) as living, other_process(source) as killed:
        for process in (living, killed):
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
        killed.send_signal(signal.SIGKILL)
        assert soon(lambda: len(stand_ins.containers(f"{RUN_LABEL}={run_id}")) == 1)
        time.sleep(2)
        assert len(stand_ins.containers(f"{RUN_LABEL}={run_id}")) == 1
    assert soon(lambda: left_of(run_id) == "")


async def test_an_interrupt_leaves_nothing(engine: Engine, run_id: str) -> None:
    with other_process(SLEEPING.format(run_id=run_id, image=IMAGE)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        process.wait(20)
    assert stand_ins.containers(f"{RUN_LABEL}={run_id}") == []


async def test_a_build_of_a_killed_process_leaves_nothing(engine: Engine, tmp_path: Path) -> None:
    name = f"benchwright-test/{secrets.token_hex(6)}"
    context = write_context(
        tmp_path, dockerfile=f"FROM {IMAGE}\nRUN echo 1 > /1\nRUN echo 'now 2'; sleep 1; false\n"
    )
    with other_process(BUILDING.format(name=name, context=str(context))) as process:
        assert process.stdout is not None
        assert any(line.startswith("now 2") for line in process.stdout)
        building = stand_ins.containers(f"{BUILT_FOR_LABEL}={name}")
        assert not set(building) & set(await remove_leftovers(engine))
        process.send_signal(signal.SIGKILL)
        process.wait()
    unnamed = ["images", "--quiet", "--filter", f"label={BUILT_FOR_LABEL}={name}"]
    assert soon(lambda: stand_ins.containers(f"{BUILT_FOR_LABEL}={name}") == [])
    await remove_leftovers(engine)
    assert soon(lambda: docker(*unnamed, "--all") == "")
    assert docker(*unnamed) == ""


async def test_what_a_living_process_owns_stays(engine: Engine) -> None:
    with container(**ownership_labels("another run")) as name:
        await remove_leftovers(engine)
        assert exists(name)


async def test_what_may_be_somebody_elses_stays(engine: Engine) -> None:
    place, boot, _, started = unique_process_id().split(" ")
    with container(**{PROCESS_LABEL: f"{place}0 {boot} 4194305 {started}"}) as name:
        await remove_leftovers(engine)
        assert exists(name)


@pytest.mark.parametrize("change", ["dead", "pid given anew", "before the last boot"])
def test_what_the_dead_left_is_known(change: str) -> None:
    place, boot, pid, started = unique_process_id().split(" ")
    of = {
        "dead": f"{place} {boot} 4194305 {started}",
        "pid given anew": f"{place} {boot} {pid} 1{started}",
        "before the last boot": f"{place} 0-0-0 {pid} {started}",
    }
    assert is_leftover({PROCESS_LABEL: of[change]})
    assert not is_leftover({PROCESS_LABEL: of[change], KEPT_LABEL: "as something"})


@pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="only /proc tells that a process waits for its parent"
)
def test_one_that_has_ended_is_dead_even_if_its_parent_has_not_noticed() -> None:
    place, boot, _, _ = unique_process_id().split(" ")
    with subprocess.Popen(["true"]) as child:
        while (fields := Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split())[0] != "Z":
            time.sleep(0.01)
        assert is_leftover({PROCESS_LABEL: f"{place} {boot} {child.pid} {fields[19]}"})


@pytest.mark.parametrize("change", ["living", "host", "user", "process namespace", "nonsense"])
def test_what_cannot_be_proven_dead_counts_as_alive(change: str) -> None:
    place, boot, pid, started = unique_process_id().split(" ")
    host, user, namespace = place.split("/")
    of = {
        "living": f"{place} {boot} {pid} {started}",
        "host": f"other/{user}/{namespace} {boot} 4194305 {started}",
        "user": f"{host}/12345/{namespace} {boot} 4194305 {started}",
        "process namespace": f"{host}/{user}/pid:[1] {boot} 4194305 {started}",
        "nonsense": "nonsense",
    }
    assert not is_leftover({PROCESS_LABEL: of[change]})
    assert not is_leftover({})


async def test_volumes_go_with_their_container(engine: Engine, run_id: str) -> None:
    tag = "benchwright-stand-in/volume:1"
    docker("build", "--tag", tag, "-", stdin=f"FROM {IMAGE}\nVOLUME /data\n".encode())
    place, boot, _, started = unique_process_id().split(" ")
    dead = f"{PROCESS_LABEL}={place} {boot} 4194305 {started}"
    left = docker("run", "--detach", "--label", dead, tag, "sleep", "100").strip()
    volumes = volumes_of(left)
    await remove_leftovers(engine)
    assert soon(lambda: not exists(left))
    async with DockerSandboxes(engine, run_id).start(SandboxSpec(tag)) as sandbox:
        assert (await sandbox.run(["touch", "/data/x"], seconds=5)).succeeded
        volumes += volumes_of(sandbox.container.name)
    assert len(volumes) >= 2
    assert set(docker("volume", "ls", "--quiet").split()).isdisjoint(volumes)


@pytest.mark.parametrize(
    ("dockerfile", "labelled"),
    [
        (b"FROM a\nRUN x", b'FROM a\nLABEL n="v"\nRUN x'),
        (b"# escape=`\nfrom a `\n  as b\nRUN x `\nFROM y\nFROM b", None),
        (b"ARG x\nFROM a \\\n# between\n AS b\nCOPY . .\nFROM b\n", None),
        (b"FROM a\r\nRUN x\r\n", None),
    ],
)
def test_each_stage_is_labelled_where_it_begins(dockerfile: bytes, labelled: bytes | None) -> None:
    found = with_label(dockerfile, "n", "v")
    if labelled is not None:
        assert found == labelled
    lines = found.split(b"\n")
    assert [line for line in lines if line != b'LABEL n="v"'] == dockerfile.split(b"\n")
    assert lines.count(b'LABEL n="v"') == (2 if b"b" in dockerfile else 1)


def test_the_labels_name_this_process() -> None:
    assert f" {os.getpid()} " in ownership_labels("run")[PROCESS_LABEL]
