"""Packs in Python: the same protocol in a process of their own, with a library that mirrors the SDK."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.packs.bridge.bridge_kit import MANIFEST, QUICK, Log, failure, given, run, running, write_pack
from tests.packs.bridge.test_provider_requests import Server, serving

from benchwright.errors import ExecutionError, LimitReached, ProviderError
from benchwright.packs.bridge import PackProcess

ASYNC_PACK = """
import asyncio
from benchwright_pack import create_host_helpers, load_bench_pack_manifest, require_scored_results
from beside import TITLE

manifest = load_bench_pack_manifest(__file__)

async def list_scenarios():
    return [{"id": "A-01", "title": TITLE, "category": "A", "extra": 1}]

async def prepare(context):
    helpers = create_host_helpers(context)
    context["logger"].info("prepared", {"providers": len(context["providers"])})

    async def run_scenario(input, emit):
        await emit({"type": "model_progress", "message": "asking"})
        await asyncio.sleep(0.01)
        provider = helpers.get_required_provider(input["model"]["provider"], enabled_only=True)
        return {"scenarioId": input["scenario"]["id"], "status": "pass", "score": 1, "summary": provider["baseUrl"]}

    return {"run_scenario": run_scenario}

def score_model_results(results):
    return {"totalScore": sum(result["score"] for result in require_scored_results(results)), "categories": []}
"""

CAMEL_CLASS = """
class Prepared:
    def runScenario(self, input, emit):
        emit({"type": "model_progress"})
        return {"scenarioId": input["scenario"]["id"], "status": "pass", "score": 1}

    def dispose(self):
        print("disposed")

class Pack:
    manifest = {"id": "sample"}

    def listScenarios(self):
        return [{"id": "A-01", "title": "x"}]

    def prepare(self, context):
        return Prepared()

    def scoreModelResults(self, results):
        return {"totalScore": len(results), "categories": []}

pack = Pack()
"""

FAULTY = """
import asyncio, os, sys, threading, time
from benchwright_pack import ModelError, chat, chat_async, endpoint

def passed(input, **more):
    return {"scenarioId": input["scenario"]["id"], "status": "pass", "score": 1, **more}

%s

def list_scenarios():
    return [{"id": name, "title": name} for name in globals() if name.startswith("s_")]

def prepare(context):
    async def run_scenario(input, emit):
        result = globals()[input["scenario"]["id"]](input, emit, context)
        return await result if asyncio.iscoroutine(result) else result
    def run_in_thread(input, emit):
        return globals()[input["scenario"]["id"]](input, emit, context)
    return {"run_scenario": run_in_thread if THREADS else run_scenario}

def score_model_results(results):
    return {"totalScore": len(results), "categories": []}
"""


def python_pack(directory: Path, source: str) -> Path:
    return write_pack(directory, {"pack.py": source, "beside.py": 'TITLE = "First"'})


def faulty(directory: Path, threads: bool = True, **bodies: str) -> Path:
    """A pack whose scenarios are these function bodies; `s_ok` passes."""
    kind = "def" if threads else "async def"
    functions = [
        f"{kind} {name}(input, emit, context):\n    {body}"
        for name, body in {"s_ok": "return passed(input)", **bodies}.items()
    ]
    return python_pack(directory, f"THREADS = {threads}\n" + FAULTY % "\n\n".join(functions))


async def test_an_async_pack_runs(tmp_path: Path) -> None:
    log, heard = Log(), list[Any]()
    async with running(python_pack(tmp_path / "pack", ASYNC_PACK), "pack.py", log=log) as pack:
        assert pack.runtime.startswith("Python 3.")
        assert pack.manifest == MANIFEST
        assert (pack.scenarios[0].title, pack.scenarios[0].raw["extra"]) == ("First", 1)
        cell = await run(pack, "A-01", on_progress=heard.append)
        assert (cell.result.status, cell.result.summary) == ("pass", "http://127.0.0.1:9/v1")
        assert cell.result.timings is not None
        assert (await pack.score([cell.result.raw])).total_score == 1
    assert heard == [{"type": "model_progress", "message": "asking"}]
    assert ("info", "prepared", {"providers": 1}) in log


async def test_plain_functions_of_a_class_with_the_protocols_names_run_too(tmp_path: Path) -> None:
    log = Log()
    async with running(python_pack(tmp_path / "pack", CAMEL_CLASS), "./pack.py", log=log) as pack:
        assert (await run(pack, "A-01")).result.score == 1
        assert (await pack.score([])).total_score == 0
    assert "disposed" in log.lines("stdout")


FAULTS = {
    "s_raises": ("raise ValueError('no\\n good')", "the scenario failed: ValueError: no good"),
    "s_leaves": ("sys.exit(3)", "the scenario failed: SystemExit: 3"),
    "s_interrupts": ("raise KeyboardInterrupt", "the scenario failed: KeyboardInterrupt"),
    "s_nothing": ("return None", "the scenario returned null where a result is expected"),
    "s_text": ("return 'pass'", "the scenario returned a string where a result is expected"),
    "s_object": ("return passed(input, output=object())", "cannot be used: it holds a value of type object"),
    "s_nan": ("return passed(input, score=float('nan'))", "score is NaN"),
    "s_circle": ("x = []; x.append(x); return passed(input, output=x)", "cannot be used: it contains itself"),
    "s_other": ("return passed(input, scenarioId='B')", "the scenario returned a result of scenario 'B'"),
    "s_large": (
        "return passed(input, rawLog='x' * 40 * 2**20)",
        "40 MiB of JSON, more than the 32 MiB allowed",
    ),
}


@pytest.mark.parametrize("threads", [True, False], ids=["threads", "async"])
async def test_each_fault_fails_its_own_cell_with_a_reason(threads: bool, tmp_path: Path) -> None:
    directory = faulty(tmp_path / "pack", threads, **{name: body for name, (body, _) in FAULTS.items()})
    async with running(directory, "pack.py") as pack:
        reasons = dict(
            zip(FAULTS, await asyncio.gather(*(failure(pack, name) for name in FAULTS)), strict=True)
        )
        wrong = {
            name: reasons[name] for name, (_, expected) in FAULTS.items() if expected not in reasons[name]
        }
        assert wrong == {}
        assert (await run(pack, "s_ok")).result.status == "pass"
        assert pack.restarts == 0


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("os._exit(3)", "the pack called os._exit(3)"),
        ("os.abort()", "the pack called os.abort()"),
        ("os.kill(os.getpid(), 9)", "ended by SIGKILL"),
    ],
)
async def test_a_scenario_that_ends_the_process_fails_alone(body: str, reason: str, tmp_path: Path) -> None:
    async with running(faulty(tmp_path / "pack", s_fatal=body), "pack.py") as pack:
        assert reason in await failure(pack, "s_fatal")
        assert (await run(pack, "s_ok")).result.status == "pass"
        assert pack.restarts == 1


async def test_plain_functions_wait_side_by_side(tmp_path: Path) -> None:
    async with running(
        faulty(tmp_path / "pack", s_waits="time.sleep(0.5); return passed(input)"), "pack.py"
    ) as pack:
        loop = asyncio.get_running_loop()
        started = loop.time()
        await asyncio.gather(*(run(pack, "s_waits", f"c{n}") for n in range(20)))
        assert loop.time() - started < 5


async def test_a_loop_in_a_thread_is_ended_without_the_process(tmp_path: Path) -> None:
    body = "\n    while True: pass"
    async with running(faulty(tmp_path / "pack", s_loops=body), "pack.py") as pack:
        with pytest.raises(LimitReached):
            await run(pack, "s_loops", seconds=0.3)
        assert (await run(pack, "s_ok")).result.status == "pass"
        assert pack.restarts == 0


async def test_a_loop_in_an_async_function_ends_with_its_process(tmp_path: Path) -> None:
    directory = faulty(tmp_path / "pack", threads=False, s_loops="\n    while True: pass")
    async with running(
        directory, "pack.py", limits=msgspec.structs.replace(QUICK, answer_seconds=0.5)
    ) as pack:
        assert "an endless loop?" in await failure(pack, "s_loops", seconds=0.3)
        assert (await run(pack, "s_ok")).result.status == "pass"
        assert pack.restarts == 1


async def test_an_abort_reaches_plain_functions_and_async_ones(tmp_path: Path) -> None:
    waits = "signal = input['abortSignal']; signal.wait(20); return passed(input, summary=signal.reason)"
    async with running(faulty(tmp_path / "pack", s_waits=waits), "pack.py") as pack:
        waiting = asyncio.ensure_future(run(pack, "s_waits", "cell"))
        await asyncio.sleep(0.1)
        pack.abort("cell", "enough")
        assert (await waiting).result.summary == "enough"
    cancelled = (
        "\n    try: await asyncio.sleep(20)"
        "\n    except asyncio.CancelledError: print('cancelled', input['abortSignal'].aborted); raise"
    )
    log = Log()
    async with running(
        faulty(tmp_path / "other", threads=False, s_waits=cancelled), "pack.py", log=log
    ) as pack:
        with pytest.raises(LimitReached):
            await run(pack, "s_waits", seconds=0.2)
        assert await log.hears("stdout", "cancelled True")


async def test_prints_and_forged_lines_change_nothing(tmp_path: Path) -> None:
    log = Log()
    body = "print('0000 0 1 ok {}'); forge(); return passed(input)"
    helper = """
def forge():
    import fcntl
    found = [fd for fd in map(int, os.listdir("/proc/self/fd")) if fd > 2 and os.path.exists(f"/proc/self/fd/{fd}")]
    written = [fd for fd in found if fcntl.fcntl(fd, fcntl.F_GETFL) & 0o4003 == 1]
    assert written, "the channel is not found"
    for fd in written:
        os.write(fd, b"junk\\n0000 0 1 ok {}\\n")
"""
    directory = faulty(tmp_path / "pack", s_forges=body)
    path = directory / "pack.py"
    path.write_text(path.read_text() + helper)
    async with running(directory, "pack.py", log=log) as pack:
        assert (await run(pack, "s_forges")).result.score == 1
        assert "the pack wrote to the bridge's channel; this is ignored" in log.lines("warn")
        assert await log.hears("stdout", "0000 0 1 ok {}")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise RuntimeError('at load')", "the pack did not load: RuntimeError: at load"),
        ("def broken(:", "the pack did not load: SyntaxError:"),
        (
            "import no_such_module",
            "the pack did not load: ModuleNotFoundError: No module named 'no_such_module'",
        ),
        ("", "the entry module has no list_scenarios()"),
        ("import sys; sys.exit(2)", "the pack did not load: SystemExit: 2"),
        ("import os; os._exit(2)", "the pack called os._exit(2)"),
    ],
)
async def test_a_pack_that_does_not_load_says_why(source: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ExecutionError) as caught:
        async with running(write_pack(tmp_path / "pack", {"pack.py": source}), "pack.py"):
            pass
    assert reason in str(caught.value)


@pytest.fixture
async def relay() -> AsyncIterator[Server]:
    async with serving() as server:
        yield server


@pytest.mark.parametrize("threads", [True, False], ids=["threads", "async"])
async def test_the_helper_asks_with_the_cells_token_and_its_settings(
    threads: bool, relay: Server, tmp_path: Path
) -> None:
    call = "chat" if threads else "await chat_async"
    body = f"answer = {call}([{{'role': 'user', 'content': 'hi'}}]); return passed(input, summary=answer['said'])"
    async with running(
        faulty(tmp_path / "pack", threads, s_asks=body), "pack.py", base_url=relay.base_url
    ) as pack:
        cells = await asyncio.gather(
            *(
                pack.run(
                    f"c{n}", given("s_asks", temperature=n, request_timeout_seconds=5), token=f"token-{n}"
                )
                for n in range(5)
            )
        )
    assert {cell.result.summary for cell in cells} == {"hello"}
    bodies = {
        token: msgspec.json.decode(asked.body)
        for asked, token in zip(relay.asked, relay.tokens(), strict=True)
    }
    message = [{"role": "user", "content": "hi"}]
    assert bodies == {
        f"Bearer token-{n}": {"model": "m", "messages": message, "temperature": n} for n in range(5)
    }


async def test_the_endpoint_is_there_for_other_clients(relay: Server, tmp_path: Path) -> None:
    body = "return passed(input, output={'finalAnswer': ' '.join(endpoint())})"
    async with running(faulty(tmp_path / "pack", s_asks=body), "pack.py", base_url=relay.base_url) as pack:
        output = (await run(pack, "s_asks", token="of-the-cell")).result.output
    assert output is not None
    assert output.final_answer == f"{relay.base_url} of-the-cell m"


async def test_a_model_that_gives_an_error_is_the_providers_trouble(tmp_path: Path) -> None:
    bodies: dict[str, Any] = {
        "s_raises": "chat([])",
        "s_fails": "\n    try: chat([])\n    except ModelError: return passed(input, status='fail')",
    }
    async with running(faulty(tmp_path / "pack", **bodies), "pack.py") as pack:
        with pytest.raises(ProviderError, match="no answer from the model's server"):
            await run(pack, "s_raises")
        result = (await run(pack, "s_fails")).result
        assert (result.error_type, result.retryable) == ("provider_error", True)


async def test_the_model_is_only_there_while_a_scenario_runs(tmp_path: Path) -> None:
    source = "from benchwright_pack import chat\nchat([])"
    with pytest.raises(ExecutionError, match="no scenario is running"):
        async with running(write_pack(tmp_path / "pack", {"pack.py": source}), "pack.py"):
            pass


async def test_python_packs_need_no_node(tmp_path: Path) -> None:
    directory = python_pack(tmp_path / "pack", CAMEL_CLASS)
    async with PackProcess(directory, "pack.py", home=tmp_path / "home", node="no-such-node") as pack:
        assert pack.scenarios[0].id == "A-01"
