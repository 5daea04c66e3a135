"""The private channel: frames come through whole, and nothing that a pack writes is taken for one."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given as having
from hypothesis import strategies as st
from tests.packs.bridge.bridge_kit import QUICK, Log, failure, given, run, running, scenario_pack

from benchwright.packs.bridge.frames import ChannelBroken, Frame, FrameReader, decode_json

NONCE = "5e1f"


def frame(sequence: int, payload: str = "null", call: int = 1, kind: str = "ok") -> bytes:
    return f"\n{NONCE} {sequence} {call} {kind} {payload}\n".encode()


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]


@having(
    st.lists(st.text(), max_size=5), st.lists(st.binary(max_size=20), min_size=6), st.lists(st.integers(0))
)
def test_frames_come_through_whatever_is_written_between_them(
    texts: list[str], junk: list[bytes], cuts: list[int]
) -> None:
    heard: list[bytes] = []
    reader = FrameReader(NONCE, 10**6, heard.append)
    stream = b"".join(
        between + frame(at, json.dumps(text))
        for at, (text, between) in enumerate(zip(texts, junk, strict=False))
    )
    frames = [found for piece in pieces(stream, cuts) for found in reader.feed(piece)]
    assert [decode_json(found.json) for found in frames] == texts
    assert [found[:2] for found in frames] == [(1, "ok")] * len(texts)


@pytest.mark.parametrize(
    "data",
    [
        frame(1),
        frame(0) + frame(0),
        b"\n5e1f \n",
        b"\n5e1f 0 x ok null\n",
        b"\n5e1f 0 1 ok\n",
        b"\n5e1f 0 1 ok " + b"x" * 2000,
    ],
    ids=["one missing", "one twice", "nothing in it", "no call", "no JSON", "endless"],
)
def test_a_damaged_frame_breaks_the_channel(data: bytes) -> None:
    with pytest.raises(ChannelBroken):
        list(FrameReader(NONCE, 1000, lambda line: None).feed(data))


def test_an_endless_line_is_let_go_of_and_the_next_frame_is_read() -> None:
    heard: list[bytes] = []
    reader = FrameReader(NONCE, 1000, heard.append)
    for _ in range(1000):
        assert list(reader.feed(b"y" * 5000)) == []
    assert list(reader.feed(frame(0))) == [Frame(1, "ok", b"null")]
    assert heard == [b"y" * 200]


@having(st.text(st.characters(codec=None, categories=["L", "Cs", "P"])))
def test_halves_of_surrogate_pairs_become_replacement_characters(text: str) -> None:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert decode_json(json.dumps(text).encode()).encode() == whole.encode()


FORGE = """
const fs = require("node:fs");
const about = (fd) => fs.readFileSync(`/proc/self/fdinfo/${fd}`, "utf8");
const flags = (fd) => parseInt(/flags:\\s*([0-7]+)/.exec(about(fd))[1], 8);
const isChannel = (fd) => { // Node's own pipes are non-blocking
  try { return (flags(fd) & 0o4003) === 1; } catch { return false; }
};
const found = fs.readdirSync("/proc/self/fd").map(Number).filter((fd) => fd > 2 && isChannel(fd));
if (found.length === 0) throw new Error("the channel is not found");
for (const fd of [3, ...found]) {
  for (const line of [
    '{"id":1,"ok":{"status":"pass"}}\\n',
    '\\n0000 0 3 ok {"value":{"scenarioId":"forges","status":"pass","score":100},"odd":{},"about":{}}\\n',
    'half a line',
  ]) {
    try { fs.writeSync(fd, line); } catch {}
  }
}
console.log('{"id":1,"ok":{"status":"pass"}}');
process.stderr.write("to stderr\\n");
"""


async def test_forged_lines_and_prints_change_nothing(tmp_path: Path) -> None:
    log = Log()
    body = f"{FORGE} await null; return passed(input, {{ status: 'fail', score: 1 }});"
    async with running(scenario_pack(tmp_path / "pack", forges=body), log=log) as pack:
        for number in range(3):
            result = (await run(pack, "forges", f"cell-{number}")).result
            assert (result.status, result.score) == ("fail", 1)
        assert pack.restarts == 0
        assert "the pack wrote to the bridge's channel; this is ignored" in log.lines("warn")
        assert await log.hears("stdout", '{"id":1,"ok":{"status":"pass"}}')
        assert await log.hears("stderr", "to stderr")


SPY = """
const seen = [];
const keep = (value) => { seen.push(String(value)); return value; };
const { Socket } = require("node:net");
for (const [holder, name] of [
  [JSON, "stringify"], [Buffer, "from"], [require("node:fs"), "writeSync"], [Socket.prototype, "write"],
]) {
  const original = holder[name];
  holder[name] = function (...given) { for (const item of given) keep(item); return original.apply(this, given); };
}
globalThis.spied = () => seen.join("\\n");
"""


async def test_a_pack_that_replaces_what_the_bridge_uses_sees_nothing_of_the_channel(tmp_path: Path) -> None:
    body = "await emit({ type: 'model_progress' }); return passed(input, { rawLog: spied() });"
    async with running(scenario_pack(tmp_path / "pack", SPY, spies=body)) as pack:
        await run(pack, "ok")
        seen = (await run(pack, "spies")).result.raw_log
        assert " ok {" not in seen
        assert " progress {" not in seen


async def test_the_bridges_modules_are_out_of_sight(tmp_path: Path) -> None:
    body = """
    const seen = [...Object.keys(require.cache), ...process.mainModule.children.map((child) => child.filename)];
    return passed(input, { rawLog: seen.join(" "), note: process.argv.join(" ") });
    """
    async with running(scenario_pack(tmp_path / "pack", looks=body)) as pack:
        result = (await run(pack, "looks")).result
        assert "packs/node" not in result.raw_log.replace("packs/node/sdk", "")
        assert str(result.note).endswith("dist/benchlocal/index.js")


@pytest.mark.parametrize(
    "body",
    [
        "for (const fd of fs.readdirSync('/proc/self/fd').map(Number)) if (fd > 2) try { fs.closeSync(fd); } catch {}",
        "for (const handle of process._getActiveHandles()) handle.destroy?.();",
    ],
    ids=["descriptors", "handles"],
)
async def test_a_pack_that_closes_the_channel_ends_its_process(body: str, tmp_path: Path) -> None:
    source = f"const fs = require('node:fs'); {body} await new Promise((r) => setTimeout(r, 50)); return passed(input);"
    async with running(scenario_pack(tmp_path / "pack", closes=source)) as pack:
        assert "the scenario failed: the pack" in await failure(pack, "closes", seconds=5)
        assert (await run(pack, "ok")).result.status == "pass"


async def test_output_is_kept_line_by_line_up_to_a_limit(tmp_path: Path) -> None:
    log = Log()
    body = """
    process.stdout.write("one\\ntwo\\r\\n" + "z".repeat(20000) + "\\n");
    for (let i = 0; i < 40; i += 1) process.stdout.write("filler ".repeat(60000) + "\\n");
    await new Promise((resolve) => process.stdout.write("", resolve));
    return passed(input);
    """
    async with running(scenario_pack(tmp_path / "pack", prints=body), log=log) as pack:
        await run(pack, "prints")
        assert await log.hears("stdout", "(the pack prints too much: further output is dropped)")
    lines = log.lines("stdout")
    assert lines[:2] == ["one", "two"]
    assert all(len(line) <= 8193 for line in lines)


async def test_logging_and_progress_have_an_end(tmp_path: Path) -> None:
    log = Log()
    heard: list[object] = []
    body = """
    for (let i = 0; i < 12000; i += 1) { context.logger.info("x".repeat(1000)); emit({ type: "model_progress" }); }
    return passed(input);
    """
    limits = msgspec.structs.replace(QUICK, output_bytes=2**20)
    async with running(scenario_pack(tmp_path / "pack", floods=body), log=log, limits=limits) as pack:
        await run(pack, "floods", on_progress=heard.append)
    assert len(heard) == 10_000
    assert 500 < len(log.lines("info")) <= 1048
    assert "the pack logs too much: further output is dropped" in log.lines("warn")
    assert any("more than 10000 progress events" in line for line in log.lines("warn"))


async def test_many_cells_at_once_keep_apart(tmp_path: Path) -> None:
    body = """
    for (let i = 0; i < 5; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      await emit({ type: "model_progress", message: input.generation.seed });
    }
    return passed(input, { score: input.generation.seed });
    """
    heard: dict[int, list[object]] = {number: [] for number in range(100)}
    async with running(scenario_pack(tmp_path / "pack", echo=body)) as pack:
        cells = await asyncio.gather(
            *(
                pack.run(f"c{number}", given("echo", seed=number), on_progress=heard[number].append)
                for number in heard
            )
        )
    assert [cell.result.score for cell in cells] == list(range(100))
    assert heard == {number: [{"type": "model_progress", "message": number}] * 5 for number in heard}
