"""Verifiers in the cloud or run by the user: asked whether they are healthy, before and during a run."""

from __future__ import annotations

import socket
import time

import msgspec
import pytest
from tests.packs.verifiers.verifier_kit import UserServer, url_pack

from benchwright.errors import ExecutionError, UserError
from benchwright.packs.types import VerifierMode
from benchwright.packs.verifiers import VerifierStartOptions, running_verifiers, verifier_states
from benchwright.packs.verifiers.states import check_health

START = VerifierStartOptions("run")


def nowhere() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.mark.parametrize("mode", ["cloud", "custom_url"])
async def test_a_healthy_one_is_running(mode: VerifierMode) -> None:
    async with (
        UserServer().running() as server,
        running_verifiers(url_pack(mode, server.url), START) as verifiers,
    ):
        [endpoint] = verifiers.endpoints
        verifiers.require_running()
        await verifiers.check()
    assert (endpoint.id, endpoint.mode, endpoint.status, endpoint.url) == (
        "verifier",
        mode,
        "running",
        server.url,
    )
    assert (endpoint.details, verifiers.gateway) == (None, None)


async def test_one_that_is_not_there_is_told_before_any_model_is_asked() -> None:
    url = nowhere()
    async with running_verifiers(url_pack("custom_url", url), START) as verifiers:
        [endpoint] = verifiers.endpoints
        assert endpoint.status == "stopped"
        with pytest.raises(UserError) as told:
            verifiers.require_running()
    assert str(told.value).startswith(f"The verifier 'verifier' of pack is not running: GET {url}/health: ")
    assert str(told.value).endswith("Start it, or correct its address.")


async def test_one_that_is_not_required_may_be_missing() -> None:
    pack = url_pack("custom_url", nowhere())
    optional = msgspec.structs.replace(pack, specs=[msgspec.structs.replace(pack.specs[0], required=False)])
    async with running_verifiers(optional, START) as verifiers:
        verifiers.require_running()
        assert verifiers.endpoints[0].status == "stopped"


@pytest.mark.parametrize(
    ("url", "path", "why"),
    [
        (None, "/health", "its mode is cloud but no address is set"),
        ("ftp://x", "/health", "is not an http:// or https:// address"),
        ("http://x", "/health\r\nX: y", "is not a valid path"),
    ],
)
async def test_what_is_no_address_is_told(url: str | None, path: str, why: str) -> None:
    async with running_verifiers(url_pack("cloud", url, path), START) as verifiers:
        with pytest.raises(UserError, match=why):
            verifiers.require_running()


async def test_health_is_a_status_of_the_two_hundreds() -> None:
    async with UserServer().running() as server:
        server.status = 503
        trouble = await check_health(server.url, "/health")
        assert trouble is not None
        assert trouble.reason == f"GET {server.url}/health is answered with HTTP 503"
        server.status = 204
        assert await check_health(server.url, "/health") is None


async def test_without_a_health_path_any_answer_will_do() -> None:
    async with (
        UserServer().running() as server,
        running_verifiers(url_pack("cloud", server.url, None), START) as found,
    ):
        found.require_running()


async def test_one_that_dies_during_the_run_is_an_error_and_comes_back() -> None:
    server = UserServer()
    async with server.running():
        pack = url_pack("custom_url", server.url)
        context = running_verifiers(pack, START)
        verifiers = await context.__aenter__()
    assert len(await verifiers.recheck()) == 1
    with pytest.raises(ExecutionError, match="The verifier 'verifier' of pack is not running: GET "):
        await verifiers.check()
    async with server.running():
        assert await verifiers.recheck() == []
        await verifiers.check()
    await context.__aexit__(None, None, None)


async def test_one_that_is_at_work_and_silent_is_not_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwright.packs.verifiers.states.ANSWER_TIMEOUT", 0.2)
    async with (
        UserServer().running() as server,
        running_verifiers(url_pack("cloud", server.url), START) as verifiers,
    ):
        server.status = None
        assert await verifiers.recheck() == []


async def test_looking_after_it_again_and_again_costs_next_to_nothing() -> None:
    async with (
        UserServer().running() as server,
        running_verifiers(url_pack("cloud", server.url), START) as verifiers,
    ):
        asked = server.asked
        began = time.perf_counter()
        for _ in range(1000):
            await verifiers.check()
        assert time.perf_counter() - began < 0.5
        assert server.asked - asked <= 1


async def test_states_are_told_without_a_run() -> None:
    async with UserServer().running() as server:
        [there] = await verifier_states(url_pack("cloud", server.url))
    [gone] = await verifier_states(url_pack("cloud", server.url))
    [unknown] = await verifier_states(url_pack("cloud", None))
    assert [there.status, gone.status, unknown.status] == ["running", "stopped", "failed"]
