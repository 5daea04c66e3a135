"""Scenarios that go wrong in every way within a process that lives on: each fails with a reason, and no other does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.packs.bridge.bridge_kit import Log, failure, run, running, scenario_pack

from benchwright.errors import ExecutionError, LimitReached, ProviderError
from benchwright.packs.bridge import BridgeLimits, PackProcess

FAULTS = {
    "throws": ("throw new TypeError('no\\n  good');", "the scenario failed: TypeError: no good"),
    "throws_text": ("throw 'just text';", "the scenario failed: a string was thrown: just text"),
    "throws_nothing": ("throw undefined;", "the scenario failed: undefined was thrown: undefined"),
    "throws_object": ("throw { a: 1 };", 'the scenario failed: an object was thrown: {"a":1}'),
    "throws_traps": (
        "throw new Proxy({}, { get() { throw new Error('trap'); } });",
        "the scenario failed: an object was thrown: one that cannot be shown",
    ),
    "rejects_late": (
        "await new Promise((resolve) => setTimeout(resolve, 5)); return Promise.reject(404);",
        "the scenario failed: a number was thrown: 404",
    ),
    "throws_in_timer": (
        "return new Promise(() => setTimeout(() => { throw new Error('in a timer'); }, 5));",
        "the scenario failed, an exception was not caught: in a timer",
    ),
    "throws_in_emitter": (
        "const emitter = new (require('node:events'))();"
        "return new Promise(() => setImmediate(() => emitter.emit('error', new Error('event'))));",
        "the scenario failed, an exception was not caught: event",
    ),
    "returns_nothing": ("return undefined;", "cannot be used: it returned undefined"),
    "returns_function": ("return () => 1;", "cannot be used: it returned a function"),
    "returns_null": ("return null;", "the scenario returned null where a result is expected"),
    "returns_text": ("return 'pass';", "the scenario returned a string where a result is expected"),
    "returns_list": ("return [passed(input)];", "the scenario returned a list where a result is expected"),
    "no_status": (
        "return { scenarioId: input.scenario.id };",
        "the scenario's result has no status; it must be pass, partial or fail",
    ),
    "odd_status": (
        "return passed(input, { status: 'ok' });",
        "the scenario's result has the status 'ok'; it must be pass, partial or fail",
    ),
    "other_scenario": (
        "return passed(input, { scenarioId: 'B-02' });",
        "the scenario returned a result of scenario 'B-02'",
    ),
    "no_scenario": (
        "return passed(input, { scenarioId: undefined });",
        "the scenario returned a result without a scenarioId",
    ),
    "nan": ("return passed(input, { score: 0 / 0 });", "score is NaN"),
    "infinite": ("return passed(input, { points: 1 / 0 });", "points is Infinity"),
    "score_text": ("return passed(input, { score: '80' });", "score is a string where a number is expected"),
    "circular": (
        "const result = passed(input); result.self = result; return result;",
        "cannot be used: Converting circular structure to JSON",
    ),
    "bigint": ("return passed(input, { n: 10n });", "cannot be used: Do not know how to serialize a BigInt"),
    "getter": (
        "return { status: 'pass', get output() { throw new Error('from a getter'); } };",
        "cannot be used: from a getter",
    ),
    "to_json": (
        "return { toJSON() { throw new Error('from toJSON'); } };",
        "cannot be used: from toJSON",
    ),
    "deep": (
        "let list = []; for (let i = 0; i < 1200; i++) list = [list]; return passed(input, { output: list });",
        "cannot be used: it cannot be read: it is nested too deeply",
    ),
    "deeper": (
        "let list = []; for (let i = 0; i < 100000; i++) list = [list]; return passed(input, { output: list });",
        "cannot be used: Maximum call stack size exceeded",
    ),
    "large": (
        "return passed(input, { rawLog: 'x'.repeat(200 * 1024 * 1024) });",
        "cannot be used: what it returned is 200 MiB of JSON, more than the 32 MiB allowed",
    ),
}  # fmt: skip


@pytest.fixture
async def pack(tmp_path: Path) -> AsyncIterator[PackProcess]:
    bodies = {name: body for name, (body, _) in FAULTS.items()}
    async with running(scenario_pack(tmp_path / "pack", **bodies)) as pack:
        yield pack


async def test_each_fault_fails_its_own_cell_with_a_reason(pack: PackProcess) -> None:
    """All of them at once, in one process, among cells without a fault."""

    async def reason(name: str) -> str:
        return await failure(pack, name)

    found = await asyncio.gather(*map(reason, FAULTS), *(run(pack, "ok", f"ok-{n}") for n in range(10)))
    reasons = dict(zip(FAULTS, found, strict=False))
    wrong = {
        name: reasons[name] for name, (_, expected) in FAULTS.items() if expected not in str(reasons[name])
    }
    assert wrong == {}
    assert pack.restarts == 0


async def test_all_those_are_execution_errors(pack: PackProcess) -> None:
    for name in ("throws", "returns_nothing", "nan", "large"):
        with pytest.raises(ExecutionError):
            await run(pack, name)


async def test_a_number_that_is_none_elsewhere_does_no_harm(tmp_path: Path) -> None:
    body = "return passed(input, { verifier: { status: 'x', summary: '', details: { ratio: 0 / 0 } } });"
    async with running(scenario_pack(tmp_path / "pack", ratio=body)) as pack:
        cell = await run(pack, "ratio")
        assert cell.result.raw["verifier"]["details"] == {"ratio": None}


async def test_unknown_keys_are_kept_and_odd_parts_left_out_of_the_typed_view(tmp_path: Path) -> None:
    body = """
    return passed(input, {
      output: "text", note: 5, extra: { unit: "ms" }, artifacts: [{ kind: "f", label: "l" }, 3],
    });
    """
    async with running(scenario_pack(tmp_path / "pack", odd=body)) as pack:
        result = (await run(pack, "odd")).result
        assert (result.output, result.note, len(result.artifacts)) == (None, None, 1)
        assert (result.raw["output"], result.raw["note"], result.raw["extra"]) == ("text", 5, {"unit": "ms"})


async def test_text_that_is_no_unicode_comes_through_with_replacement_characters(tmp_path: Path) -> None:
    body = r"return passed(input, { summary: 'a\ud83d b\\ud83d c\ud83d\ude00 \u0000' });"
    async with running(scenario_pack(tmp_path / "pack", half=body)) as pack:
        assert (await run(pack, "half")).result.summary == "a\ufffd b\\ud83d c\U0001f600 \0"


async def test_timings_are_filled_in_where_there_are_none(tmp_path: Path) -> None:
    bodies = {
        "none": "await new Promise((resolve) => setTimeout(resolve, 30)); return passed(input);",
        "own": "return passed(input, { timings: { durationMs: 7 } });",
    }
    async with running(scenario_pack(tmp_path / "pack", **bodies)) as pack:
        timings = (await run(pack, "none")).result.timings
        assert timings is not None
        assert timings.duration_ms is not None
        assert 25 <= timings.duration_ms < 5000
        assert str(timings.started_at) < str(timings.completed_at)
        assert (await run(pack, "own")).result.raw["timings"] == {"durationMs": 7}


async def test_a_rejection_that_nobody_handles_is_logged_and_harms_nobody(tmp_path: Path) -> None:
    log = Log()
    body = """
    void Promise.reject(new Error("left alone"));
    await new Promise((resolve) => setTimeout(resolve, 20));
    return passed(input);
    """
    async with running(scenario_pack(tmp_path / "pack", careless=body), log=log) as pack:
        assert (await run(pack, "careless")).result.status == "pass"
        assert "unhandled promise rejection: left alone" in log.lines("warn")


async def test_a_scenario_that_never_ends_reaches_its_limit(tmp_path: Path) -> None:
    bodies = {
        "forever": "return new Promise(() => {});",
        "careless": "void Promise.reject(new Error('broke off')); return new Promise(() => {});",
    }
    async with running(scenario_pack(tmp_path / "pack", **bodies)) as pack:
        with pytest.raises(LimitReached, match=r"limit of 0\.2 seconds"):
            await run(pack, "forever", seconds=0.2)
        with pytest.raises(ExecutionError, match=r"within 0\.2 s; a promise had been rejected: broke off"):
            await run(pack, "careless", seconds=0.2)
        assert (await run(pack, "ok")).result.status == "pass"
        assert pack.restarts == 0


async def test_an_error_that_carries_an_http_status_is_the_providers(tmp_path: Path) -> None:
    bodies = {
        "status": "throw Object.assign(new Error('busy'), { status: 429 });",
        "status_code": "throw Object.assign(new Error('busy'), { statusCode: 429 });",
        "response": "throw Object.assign(new Error('busy'), { response: { status: 429 } });",
        "cause": "throw new Error('busy', { cause: { status: 429 } });",
    }
    async with running(scenario_pack(tmp_path / "pack", **bodies)) as pack:
        for name in bodies:
            with pytest.raises(ProviderError, match="busy") as caught:
                await run(pack, name)
            assert (caught.value.http_status, caught.value.retryable) == (429, True)


async def test_an_error_of_the_caller_is_not_worth_another_try(tmp_path: Path) -> None:
    body = "throw Object.assign(new Error('no such model'), { status: 404 });"
    async with running(scenario_pack(tmp_path / "pack", missing=body)) as pack:
        with pytest.raises(ProviderError) as caught:
            await run(pack, "missing")
        assert not caught.value.retryable


SCORES = {
    "throw new Error('no');": "the pack's scoreModelResults() failed: no",
    "return undefined;": "cannot be used: it returned undefined",
    "return 'good';": "scoreModelResults() returned a string where a score is expected",
    "return {};": "scoreModelResults() returned no totalScore",
    "return { totalScore: 0 / 0, categories: [] };": "totalScore is NaN",
    "return { totalScore: '80' };": "totalScore is a string where a number is expected",
    "return new Promise(() => {});": "it did not end within 1 s",
    "process.exit(5);": "the pack's scoreModelResults() failed: the pack called process.exit(5)",
    "for (;;);": "did not answer either (an endless loop?), was ended",
}


async def test_a_scorer_that_fails_says_why_and_cells_go_on(tmp_path: Path) -> None:
    functions = ", ".join(f"() => {{ {body} }}" for body in SCORES)
    more = f"const scorers = [{functions}]; exports.scoreModelResults = ([{{ which }}]) => scorers[which]();"
    limits = BridgeLimits(score_seconds=1, answer_seconds=0.5)
    async with running(scenario_pack(tmp_path / "pack", more), limits=limits) as pack:
        for which, reason in enumerate(SCORES.values()):
            with pytest.raises(ExecutionError) as caught:
                await pack.score([{"which": which}])
            assert reason in str(caught.value)
            assert (await run(pack, "ok")).result.status == "pass"
        assert pack.restarts == 2


async def test_a_score_keeps_units_and_unknown_keys(tmp_path: Path) -> None:
    score = """{
      totalScore: 34.7619, totalUnit: "tok/s", summary: "fast",
      categories: [
        { id: "A", label: "Short", score: 0 / 0, unit: "ms" },
        { id: "B", label: "Long", score: 2, weight: 0.5 },
      ],
    }"""
    log = Log()
    directory = scenario_pack(tmp_path / "pack", f"exports.scoreModelResults = async () => ({score});")
    async with running(directory, log=log) as pack:
        found = await pack.score([])
    assert (found.total_score, found.total_unit, found.summary) == (34.7619, "tok/s", "fast")
    assert [(part.id, part.score, part.unit, part.weight) for part in found.categories] == [
        ("A", None, "ms", None),
        ("B", 2.0, None, 0.5),
    ]
    assert found.raw["totalUnit"] == "tok/s"
    assert "scoreModelResults: score is NaN" in log.lines("warn")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("throw new Error('no key');", "the pack's prepare() failed: no key"),
        ("return {};", "prepare() returned no runScenario()"),
        ("return new Promise(() => {});", "the pack's prepare() failed: it did not end within 1 s"),
        ("for (;;);", "did not answer either (an endless loop?), was ended"),
        ("process.abort();", "the pack called process.abort()"),
    ],
)
async def test_a_prepare_that_fails_says_why(body: str, reason: str, tmp_path: Path) -> None:
    directory = scenario_pack(tmp_path / "pack", f"exports.prepare = async () => {{ {body} }};")
    limits = BridgeLimits(prepare_seconds=1, answer_seconds=0.5)
    with pytest.raises(ExecutionError) as caught:
        async with running(directory, limits=limits):
            pass
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "body", ["throw new Error('no');", "return new Promise(() => {});", "for (;;);", "process.exit(1);"]
)
async def test_a_dispose_that_fails_is_only_logged(body: str, tmp_path: Path) -> None:
    more = f"exports.prepare = async () => ({{ runScenario: passed, dispose: async () => {{ {body} }} }});"
    log = Log()
    limits = BridgeLimits(dispose_seconds=0.5, answer_seconds=0.5)
    async with running(scenario_pack(tmp_path / "pack", more), log=log, limits=limits) as pack:
        await pack.score([])
    assert any("the pack's dispose() failed" in line for line in log.lines("warn"))
