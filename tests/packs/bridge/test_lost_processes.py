"""Scenarios that take the whole process with them: they fail, and the others go on in a new one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from tests.packs.bridge.bridge_kit import QUICK, Log, failure, run, running, scenario_pack

from benchwright.errors import ExecutionError
from benchwright.packs.bridge import BridgeLimits

SLOW = "await new Promise((resolve) => setTimeout(resolve, 400)); return passed(input);"

FATAL = {
    "process.exit(3)": "the pack called process.exit(3)",
    "process.exit()": "the pack called process.exit()",
    "process.reallyExit(4)": "the pack called process.reallyExit(4)",
    "process.abort()": "the pack called process.abort()",
    "process.kill(process.pid, 'SIGKILL'); await new Promise(() => {})": "ended by SIGKILL",
    "process.kill(process.pid); await new Promise(() => {})": "ended by SIGTERM",
    "process.kill(process.ppid, 'SIGKILL'); await new Promise(() => {})": "ended by SIGKILL",
    "require('child_process').execSync(`kill -9 ${process.pid}`); await new Promise(() => {})": "ended by SIGKILL",
    "process.removeAllListeners('uncaughtException'); setTimeout(() => { throw new Error('alone'); }); "
    "await new Promise(() => {})": "ended with exit code 1",
}  # fmt: skip


@pytest.mark.parametrize("body", FATAL)
async def test_a_scenario_that_ends_the_process_fails_alone(body: str, tmp_path: Path) -> None:
    async with running(scenario_pack(tmp_path / "pack", fatal=f"await null; {body};")) as pack:
        assert FATAL[body] in await failure(pack, "fatal")
        assert (await run(pack, "ok")).result.status == "pass"
        assert pack.restarts == 1


async def test_others_that_were_under_way_are_begun_again(tmp_path: Path) -> None:
    log = Log()
    bodies = {"slow": SLOW, "exits": "await new Promise((r) => setTimeout(r, 100)); process.exit(1);"}
    async with running(scenario_pack(tmp_path / "pack", **bodies), log=log) as pack:
        slow = [run(pack, "slow", f"slow-{n}") for n in range(8)]
        reason, cells = await asyncio.gather(failure(pack, "exits"), asyncio.gather(*slow))
        assert "the pack called process.exit(1)" in reason
        assert {cell.result.status for cell in cells} == {"pass"}
        assert pack.restarts == 1
        assert any("slow-0 is restarted" in line for line in log.lines("warn"))


async def test_where_nobody_can_tell_who_did_it_all_are_begun_again_once(tmp_path: Path) -> None:
    kill = (
        "await new Promise((r) => setTimeout(r, 100)); process.removeAllListeners(); process._rawDebug(''); "
    )
    kill += (
        "require('child_process').spawn('kill', ['-9', String(process.pid)]); await new Promise(() => {});"
    )
    async with running(scenario_pack(tmp_path / "pack", kills=kill, slow=SLOW)) as pack:
        reason, slow = await asyncio.gather(failure(pack, "kills"), run_or_reason(pack, "slow"))
        assert "ended by SIGKILL" in reason
        assert "ended by SIGKILL" in slow
        assert pack.restarts == 1
        assert (await run(pack, "slow")).result.status == "pass"


async def run_or_reason(pack: object, scenario: str) -> str:
    try:
        return (await run(pack, scenario)).result.status  # type: ignore[arg-type]
    except ExecutionError as error:
        return str(error)


async def test_a_busy_loop_ends_with_its_process_and_others_are_begun_again(tmp_path: Path) -> None:
    bodies = {"slow": SLOW, "loops": "for (;;);", "later": "await null; for (;;);"}
    limits = msgspec.structs.replace(QUICK, answer_seconds=0.5)
    async with running(scenario_pack(tmp_path / "pack", **bodies), limits=limits) as pack:
        for name in ("loops", "later"):
            reason, slow = await asyncio.gather(
                failure(pack, name, seconds=0.5), run(pack, "slow", seconds=20)
            )
            assert "did not end within 0.5 s, and its process, which did not answer either" in reason
            assert slow.result.status == "pass"
        assert pack.restarts == 2


async def test_a_cell_that_is_cancelled_in_a_busy_loop_does_not_hold_up_the_others(tmp_path: Path) -> None:
    limits = msgspec.structs.replace(QUICK, answer_seconds=0.5)
    async with running(scenario_pack(tmp_path / "pack", loops="for (;;);"), limits=limits) as pack:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await run(pack, "loops", seconds=None)
        assert (await run(pack, "ok")).result.status == "pass"
        assert pack.restarts == 1


@pytest.mark.parametrize(
    "body",
    [
        "const all = []; for (;;) all.push(new Array(100000).fill({}));",
        "const all = []; for (;;) { all.push(Buffer.alloc(2 ** 20, 1)); await new Promise((r) => setImmediate(r)); }",
    ],
    ids=["heap", "buffers"],
)
async def test_a_memory_hog_ends_with_its_process(body: str, tmp_path: Path) -> None:
    limits = msgspec.structs.replace(QUICK, memory_bytes=150 * 2**20)
    async with running(scenario_pack(tmp_path / "pack", hog=body), limits=limits) as pack:
        assert "more than the 150 MiB of memory" in await failure(pack, "hog", seconds=60)
        assert (await run(pack, "ok")).result.status == "pass"


async def test_a_pack_that_cannot_be_loaded_again_fails_the_rest_at_once(tmp_path: Path) -> None:
    marker = tmp_path / "loaded"
    more = f"""
    const fs = require("node:fs");
    if (fs.existsSync({str(marker)!r})) throw new Error("only once");
    fs.writeFileSync({str(marker)!r}, "");
    """
    async with running(scenario_pack(tmp_path / "pack", more, exits="process.exit(1);")) as pack:
        await failure(pack, "exits")
        for _ in range(2):
            assert "the pack did not load: only once" in await failure(pack, "ok")
        assert pack.restarts == 1


async def test_a_cell_that_is_cancelled_while_the_process_starts_again_spoils_nothing(tmp_path: Path) -> None:
    more = """
    const { listScenarios, prepare } = exports;
    const slowly = async (then) => { await new Promise((resolve) => setTimeout(resolve, 300)); return then(); };
    exports.listScenarios = () => slowly(listScenarios);
    exports.prepare = (given) => slowly(() => prepare(given));
    """
    async with running(scenario_pack(tmp_path / "pack", more, exits="process.exit(1);")) as pack:
        for seconds in (0.2, 0.5, 0.7):
            await failure(pack, "exits")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(seconds):
                    await run(pack, "ok", "cancelled", seconds=None)
            assert (await run(pack, "ok")).result.status == "pass"


async def test_a_hanging_load_is_given_up(tmp_path: Path) -> None:
    directory = scenario_pack(tmp_path / "pack", "exports.listScenarios = () => new Promise(() => {});")
    with pytest.raises(ExecutionError, match="the pack did not load: it did not end within 1 s"):
        async with running(directory, limits=BridgeLimits(load_seconds=1)):
            pass


async def test_a_looping_load_is_given_up(tmp_path: Path) -> None:
    directory = scenario_pack(tmp_path / "pack", "for (;;);")
    with pytest.raises(ExecutionError, match=r"the pack did not load: .* was ended"):
        async with running(directory, limits=BridgeLimits(load_seconds=5, answer_seconds=0.5)):
            pass
