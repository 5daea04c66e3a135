"""Private networks and the containers in them, and folders written into containers: all as asked for, nothing left."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest
from tests.sandbox.docker.stand_ins import IMAGE, docker, soon

from benchwright.errors import ExecutionError
from benchwright.sandbox.docker import (
    DockerSandboxes,
    Engine,
    EngineError,
    Resources,
    SandboxSpec,
    remove_leftovers,
)
from benchwright.sandbox.docker.building import BuildRecipe, ImageBuilder
from benchwright.sandbox.docker.companions import CompanionSpec, start_companion, wait_until_healthy
from benchwright.sandbox.docker.containers import MiB
from benchwright.sandbox.docker.copy_tree import pack_tree, write_tree
from benchwright.sandbox.docker.networks import private_network
from benchwright.sandbox.docker.ownership import PROCESS_LABEL, RUN_LABEL, ownership_labels

SMALL = Resources(memory_bytes=64 * MiB, processes=64, disk_bytes=16 * MiB)
OPEN = SandboxSpec(IMAGE, read_only=False, has_network=True, resources=SMALL)
SERVING = ["sh", "-c", "mkdir /w; echo hello > /w/index.html; exec httpd -f -p 8000 -h /w"]
ASK = [
    "sh",
    "-c",
    "for i in 1 2 3 4 5 6 7 8; do wget -q -O - http://web:8000/ && exit; sleep 0.5; done; exit 1",
]


def networks(label: str) -> list[str]:
    """The names of all networks with a label."""
    return docker("network", "ls", "--filter", f"label={label}", "--format", "{{.Name}}").split()


def web(**changes: object) -> CompanionSpec:
    """A web server."""
    given: dict[str, object] = {"host_names": ["web"], "command": SERVING, "resources": SMALL, **changes}
    return CompanionSpec(IMAGE, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("internal", [False, True])
async def test_a_sandbox_reaches_its_neighbour_by_name_in_a_network_of_their_own(
    engine: Engine, sandboxes: DockerSandboxes, run_id: str, internal: bool
) -> None:
    async with sandboxes.start(OPEN) as sandbox, private_network(engine, run_id, internal) as network:
        await network.add_container(sandbox.container, ["client"])
        async with start_companion(engine, web(), network, run_id):
            answered = await sandbox.run(ASK, seconds=20)
            shown = docker(
                "network", "inspect", network.name, "--format", "{{.Internal}} {{len .Containers}}"
            )
    assert answered.stdout == b"hello\n"
    assert shown == f"{str(internal).lower()} 2"
    assert networks(f"{RUN_LABEL}={run_id}") == []


async def test_from_an_internal_network_this_machine_cannot_be_reached(
    engine: Engine, sandboxes: DockerSandboxes, run_id: str
) -> None:
    listener = await asyncio.start_server(lambda reader, writer: writer.close(), "0.0.0.0", 0)
    port = listener.sockets[0].getsockname()[1]
    async with (
        listener,
        sandboxes.start(OPEN) as sandbox,
        private_network(engine, run_id, internal=True) as network,
    ):
        await network.add_container(sandbox.container, ["client"])
        shown = docker("network", "inspect", network.name, "--format", "{{(index .IPAM.Config 0).Gateway}}")
        asked = await sandbox.run(["nc", "-w", "2", shown, str(port)], seconds=20)
    assert not asked.succeeded


async def test_a_cancelled_network_is_gone(engine: Engine, run_id: str) -> None:
    async def enter() -> None:
        async with private_network(engine, run_id, True):
            await asyncio.sleep(60)

    for seconds in (0.0, 0.01, 0.5):
        entering = asyncio.ensure_future(enter())
        await asyncio.sleep(seconds)
        entering.cancel()
        await asyncio.wait([entering])
    assert networks(f"{RUN_LABEL}={run_id}") == []


async def test_networks_of_dead_processes_are_removed_and_those_of_living_ones_stay(
    engine: Engine, run_id: str
) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    ours = ownership_labels(run_id)
    place, boot, _, _ = ours[PROCESS_LABEL].rsplit(" ", 3)
    dead = f"{place} {boot} {ended.pid} 1"
    for name, process in (("dead", dead), ("alive", ours[PROCESS_LABEL])):
        docker(
            "network",
            "create",
            f"--label={RUN_LABEL}={run_id}",
            f"--label={PROCESS_LABEL}={process}",
            f"{run_id}-{name}",
        )
    try:
        await remove_leftovers(engine)
        assert soon(lambda: networks(f"{RUN_LABEL}={run_id}") == [f"{run_id}-alive"])
    finally:
        docker("network", "rm", f"{run_id}-alive")


async def test_a_neighbour_is_waited_for_until_its_own_check_says_that_it_is_well(
    engine: Engine, run_id: str
) -> None:
    check = {"Test": ["CMD-SHELL", "test -e /w/index.html"], "Interval": 200_000_000, "Retries": 1}
    async with private_network(engine, run_id, True) as network:
        async with start_companion(engine, web(health_check=check), network, run_id) as well:
            await wait_until_healthy(well, "web", 20)
        for command, health in ((["sleep", "60"], check), (["false"], check), (["sleep", "60"], None)):
            spec = web(command=command, health_check=health)
            async with start_companion(engine, spec, network, run_id) as ill:
                with pytest.raises(EngineError, match="'web' did not become healthy"):
                    await wait_until_healthy(ill, "web", 1)


async def test_a_folder_comes_with_its_modes_and_links(sandboxes: DockerSandboxes, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "run.sh").write_text("echo ran\n")
    (tmp_path / "deep" / "run.sh").chmod(0o750)
    (tmp_path / "link").symlink_to("deep/run.sh")
    alone = tmp_path / "deep" / "alone"
    alone.write_text("alone")
    async with sandboxes.start(OPEN) as sandbox:
        await write_tree(sandbox, [tmp_path, alone], "/a/b")
        shown = await sandbox.run(
            ["sh", "-c", "cd /a/b; stat -c %a deep/run.sh; sh link; cat alone; readlink link"], seconds=5
        )
    assert shown.stdout == b"750\nran\nalonedeep/run.sh\n"


def test_what_is_no_file_or_too_large_goes_into_no_container(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ExecutionError, match="neither a file"):
        pack_tree([tmp_path])
    (tmp_path / "pipe").unlink()
    (tmp_path / "file").write_bytes(b"x" * 2000)
    with pytest.raises(ExecutionError, match="too large"):
        pack_tree([tmp_path], most=1000)


async def test_a_recipe_says_what_is_built_and_the_same_one_is_built_once(
    engine: Engine, run_id: str, tmp_path: Path
) -> None:
    (tmp_path / "Other").write_text(
        f"FROM {IMAGE} AS first\nARG WORD=no\nRUN echo $WORD > /word\nFROM first\nRUN false\n"
    )
    name = f"benchwright/{run_id}"
    recipe = BuildRecipe("Other", {"WORD": "yes"}, "first")
    builds, said = ImageBuilder(engine), list[str]()
    try:
        images = [await builds.build_image(name, tmp_path, "1", recipe, 120, said.append)]
        steps = len(said)
        images.append(await builds.build_image(name, tmp_path, "1", recipe, 120, said.append))
        assert (len(set(images)), len(said)) == (1, steps)
        assert docker("run", "--rm", "--network=none", images[0], "cat", "/word") == "yes"
    finally:
        for image in docker("images", "--quiet", name).split():
            docker("rmi", "--force", image)
