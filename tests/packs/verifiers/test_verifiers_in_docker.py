"""Verifiers in containers: built, started, looked after, ended, each run its own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from tests.known import known
from tests.packs.verifiers.verifier_kit import docker_pack
from tests.sandbox.docker.services import SERVER, probe
from tests.sandbox.docker.stand_ins import containers, docker

from benchwright.errors import ExecutionError, UserError
from benchwright.packs.configuration import VerifierSettings
from benchwright.packs.verifiers import (
    VerifierProgress,
    VerifierStartOptions,
    remove_images,
    running_verifiers,
    stop_verifiers,
    verifier_states,
)
from benchwright.packs.verifiers.verifier_location import image_name
from benchwright.sandbox.docker.ownership import RUN_LABEL


async def test_it_is_built_started_and_ended_with_the_run(name: str, run_id: str, tmp_path: Path) -> None:
    told: list[VerifierProgress] = []
    pack = docker_pack(tmp_path, name)
    async with running_verifiers(pack, VerifierStartOptions(run_id), told.append) as verifiers:
        verifiers.require_running()
        [endpoint] = verifiers.endpoints
        assert endpoint.url == f"http://127.0.0.1:{endpoint.port}"
        assert await probe(endpoint.url) is None
        assert (endpoint.status, endpoint.docker_image_present) == ("running", True)
        assert verifiers.gateway is not None
        assert len(containers(f"{RUN_LABEL}={run_id}")) == 1
    assert await probe(endpoint.url) is not None
    phases = list(dict.fromkeys(one.phase for one in told))
    assert phases == ["checking_docker", "building_image", "starting_container", "waiting_for_healthcheck"]
    assert {one.verifier_id for one in told} == {"verifier"}


async def test_two_runs_at_once_have_one_each(name: str, run_id: str, tmp_path: Path) -> None:
    pack = docker_pack(tmp_path, name)
    async with running_verifiers(pack, VerifierStartOptions(run_id)) as first:
        async with running_verifiers(pack, VerifierStartOptions(run_id)) as second:
            assert first.endpoints[0].port != second.endpoints[0].port
        assert await first.recheck() == []


async def test_a_new_version_of_the_pack_gets_a_new_image(name: str, run_id: str, tmp_path: Path) -> None:
    pack = docker_pack(tmp_path, name)
    images = []
    for version in ("1.0.0", "1.0.1"):
        async with running_verifiers(
            msgspec.structs.replace(pack, version=version), VerifierStartOptions(run_id)
        ) as verifiers:
            verifiers.require_running()
        images.append(
            docker("images", "--quiet", "--no-trunc", "--format", "{{.Tag}}", image_name(name, "verifier"))
        )
    assert len(set(images)) == 2
    assert all(len(tags.split()) == 1 for tags in images)


async def test_several_are_made_ready_side_by_side(name: str, run_id: str, tmp_path: Path) -> None:
    one = docker_pack(tmp_path, name, f"sleep 1; {SERVER}")
    [spec] = one.specs
    second = msgspec.structs.replace(spec, id="second")
    pack = msgspec.structs.replace(one, specs=[spec, second])
    heard: list[str] = []
    async with running_verifiers(
        pack, VerifierStartOptions(run_id), lambda said: heard.append(said.verifier_id)
    ) as verifiers:
        verifiers.require_running()
        assert [endpoint.id for endpoint in verifiers.endpoints] == ["verifier", "second"]
        assert len(containers(f"{RUN_LABEL}={run_id}")) == 2
    assert heard.index("second") < max(at for at, told in enumerate(heard) if told == "verifier")


async def test_one_that_never_gets_healthy_is_told_with_what_it_wrote(
    name: str, run_id: str, tmp_path: Path
) -> None:
    pack = docker_pack(tmp_path, name, "echo loading; sleep 60")
    async with running_verifiers(pack, VerifierStartOptions(run_id, health_seconds=1)) as verifiers:
        assert containers(f"{RUN_LABEL}={run_id}") == []
        assert verifiers.endpoints[0].status == "failed"
        with pytest.raises(UserError, match="is not running: it was not healthy within 1 s"):
            verifiers.require_running()
        assert verifiers.logs == {"verifier": "loading\n"}


async def test_one_that_is_killed_during_the_run_is_an_error(name: str, run_id: str, tmp_path: Path) -> None:
    async with running_verifiers(docker_pack(tmp_path, name), VerifierStartOptions(run_id)) as verifiers:
        docker("kill", *containers(f"{RUN_LABEL}={run_id}"))
        [problem] = await verifiers.recheck()
        assert problem.endswith("its container has ended with exit code 137")
        with pytest.raises(ExecutionError, match="exit code 137"):
            await verifiers.check()


async def test_one_whose_server_dies_in_a_living_container_is_an_error(
    name: str, run_id: str, tmp_path: Path
) -> None:
    async with running_verifiers(
        docker_pack(tmp_path, name, f"{SERVER} & sleep 600"), VerifierStartOptions(run_id)
    ) as verifiers:
        docker("exec", *containers(f"{RUN_LABEL}={run_id}"), "sh", "-c", "kill -9 $(pidof httpd)")
        while await probe(known(verifiers.endpoints[0].url)) is None:
            await asyncio.sleep(0.05)
        [problem] = await verifiers.recheck()
        assert "/health: " in problem


async def test_cancelling_while_it_is_built_ends_the_build(name: str, run_id: str, tmp_path: Path) -> None:
    pack = docker_pack(tmp_path, name)
    dockerfile = tmp_path / "verification" / "Dockerfile"
    dockerfile.write_text(dockerfile.read_text() + "RUN sleep 60\n")
    begun = asyncio.Event()

    def report(preparing: VerifierProgress) -> None:
        if "RUN sleep 60" in preparing.message or "Running in" in preparing.message:
            begun.set()

    async def use() -> None:
        async with running_verifiers(pack, VerifierStartOptions(run_id), report):
            pass

    using = asyncio.ensure_future(use())
    async with asyncio.timeout(20):
        await begun.wait()
    using.cancel()
    with pytest.raises(asyncio.CancelledError):
        await using
    async with asyncio.timeout(5):
        while containers(f"benchwright.image={image_name(name, 'verifier')}"):
            await asyncio.sleep(0.1)


async def test_a_kept_one_is_used_again_until_it_is_stopped(name: str, run_id: str, tmp_path: Path) -> None:
    pack = docker_pack(tmp_path, name)
    assert [one.status for one in await verifier_states(pack)] == ["stopped"]
    async with running_verifiers(pack, VerifierStartOptions("gone", keep_running=True)) as kept:
        kept.require_running()
    [state] = await verifier_states(pack)
    assert (state.status, state.port) == ("running", kept.endpoints[0].port)
    async with running_verifiers(pack, VerifierStartOptions(run_id)) as verifiers:
        assert verifiers.endpoints[0].port == state.port
        assert containers(f"{RUN_LABEL}={run_id}") == []
    assert len(await stop_verifiers(name, ["verifier"])) == 1
    [state] = await verifier_states(pack)
    assert (state.status, state.docker_image_present) == ("stopped", True)
    assert len(await remove_images(name, ["verifier"])) == 1
    [state] = await verifier_states(pack)
    assert state.docker_image_present is False


async def test_one_that_shall_not_start_by_itself_is_told(name: str, run_id: str, tmp_path: Path) -> None:
    pack = docker_pack(tmp_path, name, settings={"verifier": VerifierSettings(auto_start=False)})
    async with running_verifiers(pack, VerifierStartOptions(run_id)) as verifiers:
        assert verifiers.endpoints[0].status == "stopped"
        with pytest.raises(UserError, match="benchwright pack verifiers PACK start"):
            verifiers.require_running()
    async with running_verifiers(pack, VerifierStartOptions("by hand", keep_running=True)) as verifiers:
        verifiers.require_running()
    async with running_verifiers(pack, VerifierStartOptions(run_id)) as verifiers:
        verifiers.require_running()


@pytest.mark.parametrize(
    ("installed", "status"), [(False, "missing_dependency"), (True, "dependency_not_running")]
)
async def test_without_an_engine_it_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, installed: bool, status: str
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    if not installed:
        monkeypatch.setenv("PATH", str(tmp_path))
    else:
        (tmp_path / "none.sock").touch()
    async with running_verifiers(docker_pack(tmp_path, "pack"), VerifierStartOptions("run")) as verifiers:
        [endpoint] = verifiers.endpoints
        assert (endpoint.status, endpoint.url) == (status, None)
        with pytest.raises(UserError, match=r"is not running: Docker is not (installed|running)"):
            verifiers.require_running()
    assert [one.status for one in await verifier_states(docker_pack(tmp_path, "pack"))] == [status]
