"""What a scenario is given: input, context, abort signal, progress, logger, and a bare environment."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.packs.bridge.bridge_kit import Log, given, run, running, scenario_pack

from benchwright.errors import LimitReached

AWAIT_ABORT = """
await emit({ type: "model_progress", message: "waiting" });
await new Promise((resolve) => input.abortSignal.addEventListener("abort", resolve));
const { reason } = input.abortSignal;
console.log(`aborted ${input.abortSignal instanceof AbortSignal} ${reason.name} ${reason.message}`);
return passed(input, { status: "partial", summary: `${reason.name}: ${reason.message}` });
"""


async def test_the_input_and_the_context_are_complete(tmp_path: Path) -> None:
    body = """
    const { logger, ...rest } = context;
    const { abortSignal, ...plain } = input;
    const note = { rest, plain, logger: Object.keys(logger), aborted: abortSignal.aborted };
    return passed(input, { note: JSON.stringify(note) });
    """
    directory = scenario_pack(tmp_path / "pack", shows=body)
    async with running(directory) as pack:
        cell = await pack.run("cell", given("shows", temperature=0, stop=["x"]))
    shown = json.loads(str(cell.result.note))
    folder = str(directory)
    assert shown["rest"] == {
        "protocolVersion": 1,
        "benchPack": {
            "id": "sample", "version": "1.0.0",
            "installDir": folder, "dataDir": folder, "cacheDir": folder, "runsDir": folder,
        },
        "providers": [
            {"id": "local", "kind": "openai_compatible", "name": "Local", "enabled": True,
             "baseUrl": "http://127.0.0.1:9/v1", "authMode": "bearer"}
        ],
        "models": [
            {"id": "local:m", "provider": "local", "model": "m", "label": "M", "enabled": True, "group": "primary"}
        ],
        "secrets": [
            {"providerId": "local", "keyName": "api_key", "source": "config", "value": "run-level-token"}
        ],
        "verifiers": [], "sidecars": [], "inferenceEndpoints": [],
    }  # fmt: skip
    assert shown["plain"] == {
        "runId": "run-1",
        "benchPackId": "sample",
        "scenario": {"id": "shows", "title": "shows"},
        "model": shown["rest"]["models"][0],
        "generation": {"temperature": 0, "stop": ["x"]},
    }
    assert (shown["logger"], shown["aborted"]) == (["debug", "info", "warn", "error"], False)


async def test_keys_that_a_scenario_lists_go_back_to_it(tmp_path: Path) -> None:
    async with running(scenario_pack(tmp_path / "pack")) as pack:
        assert pack.scenarios[0].raw == {"id": "ok", "title": "ok", "extra": "kept"}


async def test_an_abort_is_a_real_signal_with_a_reason(tmp_path: Path) -> None:
    async with running(scenario_pack(tmp_path / "pack", waits=AWAIT_ABORT)) as pack:
        cell = await run(pack, "waits", on_progress=lambda event: pack.abort("cell-waits", "enough"))
        assert (cell.result.status, cell.result.summary) == ("partial", "AbortError: enough")


async def test_out_of_time_the_signal_comes_first(tmp_path: Path) -> None:
    log = Log()
    async with running(scenario_pack(tmp_path / "pack", waits=AWAIT_ABORT), log=log) as pack:
        with pytest.raises(LimitReached):
            await run(pack, "waits", seconds=0.2)
        assert await log.hears("stdout", "aborted true TimeoutError the scenario did not end within 0.2 s")


async def test_a_cancelled_cell_is_aborted_and_left_at_once(tmp_path: Path) -> None:
    log = Log()
    async with running(scenario_pack(tmp_path / "pack", waits=AWAIT_ABORT), log=log) as pack:
        begun = asyncio.Event()
        waiting = asyncio.create_task(run(pack, "waits", seconds=None, on_progress=lambda event: begun.set()))
        await begun.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await log.hears("stdout", "aborted true AbortError the run was stopped")
        assert (await run(pack, "ok")).result.status == "pass"
        assert pack.restarts == 0


async def test_progress_after_the_end_is_ignored_and_said_once(tmp_path: Path) -> None:
    log = Log()
    heard: list[Any] = []
    body = """
    setTimeout(async () => {
      for (let i = 0; i < 3; i += 1) console.log("late", await emit({ type: "model_progress" }));
    }, 30);
    emit({ type: "model_progress", message: "in time" });
    return passed(input);
    """
    async with running(scenario_pack(tmp_path / "pack", late=body), log=log) as pack:
        await run(pack, "late", on_progress=heard.append)
        assert await log.hears("stdout", "late undefined")
        assert await log.hears("warn", "a progress event came after its scenario had ended")
    assert heard == [{"type": "model_progress", "message": "in time"}]
    assert len([line for line in log.lines("warn") if "progress event" in line]) == 1


async def test_odd_progress_events_are_left_out(tmp_path: Path) -> None:
    heard: list[Any] = []
    body = """
    const self = {}; self.self = self;
    const events = [self, undefined, 5n, "text", { type: "x".repeat(300000) }, { type: "good" }];
    for (const event of events) await emit(event);
    return passed(input);
    """
    async with running(scenario_pack(tmp_path / "pack", odd=body)) as pack:
        await run(pack, "odd", on_progress=heard.append)
    assert heard == [{"type": "good"}]


async def test_the_logger_takes_anything(tmp_path: Path) -> None:
    log = Log()
    body = """
    const { logger } = context;
    const self = {}; self.self = self;
    logger.debug("a", { n: 1 });
    logger.info(undefined);
    logger.warn(Symbol("s"), self);
    logger.error({ toString() { throw new Error("no"); } }, "x".repeat(100000));
    return passed(input);
    """
    async with running(scenario_pack(tmp_path / "pack", logs=body), log=log) as pack:
        await run(pack, "logs")
    assert [entry for entry in log if entry[0] in ("debug", "info", "warn", "error")] == [
        ("debug", "a", {"n": 1}),
        ("info", "undefined", None),
        ("warn", "Symbol(s)", "(data that cannot be shown)"),
        ("error", "(a message that cannot be shown)", "(more than 65536 characters)"),
    ]


async def test_the_environment_holds_nothing_of_the_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real-key")
    monkeypatch.setenv("NODE_OPTIONS", "--no-such-option")
    body = "return passed(input, { note: JSON.stringify([process.env, process.cwd()]) });"
    directory = scenario_pack(tmp_path / "pack", env=body)
    async with running(directory, environment={"PACK_SETTING": "on"}) as pack:
        variables, folder = json.loads(str((await run(pack, "env")).result.note))
    allowed = {"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "PACK_SETTING"}
    assert variables.keys() <= allowed
    assert (variables["PACK_SETTING"], variables["HOME"], folder) == (
        "on",
        f"{directory}-home",
        f"{directory}-home",
    )


async def test_fetch_has_no_hidden_limits(tmp_path: Path) -> None:
    """A real wait of 300 seconds is out of the question here: what fetch's dispatcher was told is read instead."""
    body = """
    await fetch("data:,loads what fetch needs");
    const find = (holder, name) =>
      holder[Object.getOwnPropertySymbols(holder).find((symbol) => symbol.description.startsWith(name))];
    const { headersTimeout, bodyTimeout } = find(find(globalThis, "undici.globalDispatcher"), "options");
    return passed(input, { note: JSON.stringify({ headersTimeout, bodyTimeout }) });
    """
    async with running(scenario_pack(tmp_path / "pack", looks=body)) as pack:
        assert json.loads(str((await run(pack, "looks")).result.note)) == {
            "headersTimeout": 0,
            "bodyTimeout": 0,
        }
