"""Files of runs that are broken in any way: a line that says so, never a traceback, and no other run suffers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.app_kit import Program, one_line_of
from tests.app.compare_kit import made, write_run
from tests.faults.how_often import tried
from tests.web.web_kit import viewing

from benchwright.cli.main import cli
from benchwright.errors import BenchwrightError

DEEP = "[" * 10_000 + "]" * 10_000

FILES = {
    "nothing": b"",
    "null": b"null",
    "a list": b"[]",
    "a number": b"7",
    "text": b'"x"',
    "half an object": b'{"key": ',
    "no UTF-8": b'{"id": "\xff\xfe"}',
    "an object without anything": b"{}",
    "deep lists": DEEP.encode(),
    "deep lists in an object": b'{"a": %s}' % DEEP.encode(),
    "no number": b"NaN",
}
"""What a file, or a line of one, can be instead of what it should be."""

ODD_KEYS = ("-fffffffffffffff", "+1", "0x12", " 7", "1_000", "\u0661\u0662", "k\u00e9y", "")
"""Keys that are no 32 hexadecimal digits."""

VALUES = (
    "null",
    "[1]",
    '{"a": [1]}',
    '"x"',
    '"NaN"',
    "-1",
    str(2**63),
    str(10**30),
    "true",
    "1.5",
    "1e999",
    DEEP,
)
"""What can stand in the place of any value."""

COMMANDS = (
    ["runs"],
    ["show", "run-0"],
    ["show", "run-0", "--row", "0", "--json"],
    ["compare", "run-0", "run-1", "--anyway"],
    ["report", "run-0", "-o", "page.html"],
    ["export", "run-0", "-o", "rows.csv"],
    ["runs", "tag", "run-0", "kept"],
    ["retry", "run-0"],
    ["resume", "run-0"],
)


KINDS: dict[str, dict[str, Any]] = {
    "benchmark": {
        "benchmark": "sums",
        "variant": "hard",
        "title": "Sums",
        "metric": "score",
        "protocol": "our own",
        "departures": ["no examples"],
        "breakdowns": ["level"],
        "data": {"provenance": "a file", "revision": "1"},
    },
    "pack": {
        "pack": "tools",
        "name": "Tools",
        "version": "1.0.0",
        "mode": "serial",
        "generation": {"temperature": 0},
        "models": {
            "primary": {
                "id": "here:m", "provider": "here", "model": "m", "label": "M", "enabled": True, "group": "primary",
            }
        },
        "scenarios": {"0": "The first", "1": "The second"},
        "categories": {"0": "A"},
        "cards": {"0": [{"title": "What", "content": "Why"}]},
    },
    "eval of load": {"load": {"id": "load-1", "level": {"concurrency": 2}, "number": 1, "requests": 3}},
}  # fmt: skip
"""What runs of each kind say of themselves."""

RESULTS: dict[str, dict[str, Any]] = {
    "of a benchmark": {
        "benchmark": "sums",
        "model": "m",
        "timestamp": "2026-01-01T00:00:00Z",
        "num_samples": 2,
        "accuracy": 0.5,
        "score": 0.5,
        "aggregated_metrics": {"ttft_mean": 0.1, "latency_mean": 0.2},
        "sample_results": [{"id": "a", "correct": True, "score": 1.0, "metadata": {"level": "1"}}] * 2,
    },
    "of an eval": {
        "config": {"model": "m", "n_runs": 1},
        "rows": [{"row_index": 0, "runs": [{"run_index": 0, "success": True, "scores": {"exact": 1.0}}]}],
        "summary": {"total_rows": 1},
    },
}


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the values within a value are; of a list, the first stands for all."""
    if at:
        yield at
    for name in value if isinstance(value, dict) else [0] if isinstance(value, list) and value else []:
        yield from places(value[name], (*at, name))


def with_another(value: Any, at: tuple[Any, ...], other: str) -> bytes:
    """The value's JSON with another one at that place."""
    copy = spot = json.loads(json.dumps(value))
    for name in at[:-1]:
        spot = spot[name]
    spot[at[-1]] = "HERE"
    return json.dumps(copy).replace('"HERE"', other).encode()


def broken(value: Any) -> Iterator[bytes]:
    """The value's JSON in all the ways in which it can be broken."""
    yield from FILES.values()
    for at in places(value):
        yield from (with_another(value, at, other) for other in VALUES)


def broken_lines(text: str) -> Iterator[bytes]:
    """A journal in which one line of each kind is broken."""
    lines = text.encode().splitlines()
    kinds = {
        json.loads(line).get("type", "body"): number for number, line in reversed(list(enumerate(lines)))
    }
    for number in kinds.values():
        for other in broken(json.loads(lines[number])):
            yield b"\n".join([*lines[:number], other, *lines[number + 1 :], b""])


class Damage(NamedTuple):
    """At this part of a file, so many bytes are gone and others have come."""

    place: float
    gone: int
    come: bytes


PIECES = st.sampled_from(
    [b'"', b"\\", b"{", b"}", b",", b"\n", b"\0", b"\xff", b"null", b"[]", b"1e999", b"-"]
)
DAMAGE = st.lists(
    st.builds(
        Damage, st.floats(0, 1), st.integers(0, 3) | st.integers(0, 300), PIECES | st.binary(max_size=4)
    ),
    min_size=1,
    max_size=4,
)


def damaged(content: bytes, damage: list[Damage]) -> bytes:
    """The content with all of the damage done to it."""
    for place, gone, come in damage:
        start = int(len(content) * place)
        content = content[:start] + come + content[start + gone :]
    return content


def run(arguments: list[str]) -> None:
    """Runs a command in this process; what it raises otherwise than on purpose is raised."""
    try:
        cli.main(arguments, prog_name="benchwright", standalone_mode=False)
    except (BenchwrightError, click.ClickException, click.exceptions.Exit, SystemExit):
        pass


class TestARun:
    @pytest.fixture
    def kept(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A run that is copied to be broken, beside another one."""
        monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))
        monkeypatch.chdir(tmp_path)
        write_run(tmp_path / "home" / "runs" / "run-1", made([1, 0, 1]))
        return write_run(tmp_path / "kept" / "run-0", made([1, 0, None]), settings={"seed": 1})

    @pytest.mark.slow
    @pytest.mark.parametrize("file", ["run.json", "trials.jsonl", "bodies.jsonl", "cuts.json", "tags.json"])
    def test_every_command_that_reads_one_says_what_is_wrong_or_goes_on(
        self, kept: Path, file: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (kept / "tags.json").write_text('["kept"]')
        (kept / "cuts.json").write_text('[{"trials": 1000, "bodies": 1000000}]')
        text = (kept / file).read_text()
        for content in broken_lines(text) if file.endswith("l") else broken(json.loads(text)):
            directory = kept.parents[1] / "home" / "runs" / "run-0"
            shutil.rmtree(directory, ignore_errors=True)
            shutil.copytree(kept, directory)
            (directory / file).write_bytes(content)
            for command in COMMANDS:
                run(command)
            assert "run-1" in capsys.readouterr().out

    @tried(20, of="file")
    @given(file=st.sampled_from(["run.json", "trials.jsonl", "bodies.jsonl", "tags.json"]), damage=DAMAGE)
    def test_any_bytes_of_one_may_be_others(
        self, kept: Path, file: str, damage: list[Damage], capsys: pytest.CaptureFixture[str]
    ) -> None:
        (kept / "tags.json").write_text('["kept"]')
        directory = kept.parents[1] / "home" / "runs" / "run-0"
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(kept, directory)
        (directory / file).write_bytes(damaged((kept / file).read_bytes(), damage))
        for command in COMMANDS:
            run(command)
        assert "run-1" in capsys.readouterr().out

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", KINDS)
    def test_what_its_kind_says_of_itself_is_checked_too(
        self, kept: Path, kind: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        directory = kept.parents[1] / "home" / "runs" / "run-0"
        write_run(directory, made([1, 0, None]), kind=kind.split()[0], about=KINDS[kind])
        manifest = json.loads((directory / "run.json").read_text())
        for at in places(manifest["about"]):
            for other in VALUES:
                (directory / "run.json").write_bytes(with_another(manifest, ("about", *at), other))
                for command in COMMANDS[:6]:
                    run(command)
                assert "run-1" in capsys.readouterr().out

    @pytest.mark.parametrize("key", ODD_KEYS)
    def test_trials_are_found_by_any_key(
        self, kept: Path, key: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        directory = kept.parents[1] / "home" / "runs" / "run-0"
        shutil.copytree(kept, directory)
        journal = directory / "trials.jsonl"
        first = json.loads(journal.read_text().splitlines()[1])["key"]
        journal.write_text(journal.read_text().replace(f'"{first}"', json.dumps(key)))
        for command in COMMANDS:
            run(command)
        capsys.readouterr()
        run(["show", "run-0", "--json"])
        assert json.loads(capsys.readouterr().out)["done"] == 3


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_file_that_is_none_is_told(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, file = tmp_path / "whole.json", tmp_path / "broken.json"
    whole.write_text(json.dumps(RESULTS[name]))
    for content in broken(RESULTS[name]):
        file.write_bytes(content)
        run(["compare", str(whole), str(file)])
        run(["compare", str(file), "--json"])
        capsys.readouterr()


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_a_run_that_cannot_be_read_is_left_out_alone_and_told(program: Program, content: bytes) -> None:
    runs = program.home / "runs"
    write_run(runs / "good", made([1]))
    write_run(runs / "bad", made([1]))
    (runs / "bad" / "run.json").write_bytes(content)
    listed = program.run("runs")
    assert "good" in listed.stdout
    assert "bad" not in listed.stdout
    assert listed.stderr.startswith(f"Warning: left out: {runs}/bad/run.json cannot be read: ")
    assert len(listed.stderr.splitlines()) == 1
    assert "cannot be read" in one_line_of(program.run("show", "bad").stderr)


def test_the_viewer_shows_all_others_and_says_which_it_cannot_read(program: Program) -> None:
    runs = program.home / "runs"
    write_run(runs / "good", made([1]))
    write_run(runs / "bad", made([1]))
    (runs / "bad" / "run.json").write_bytes(b'{"id": "\xff"}')
    with viewing(program) as viewer:
        page = viewer.get("/").text
    assert "/runs/good" in page
    assert "/runs/bad" not in page.replace(str(runs), "")
    assert "run.json cannot be read" in page


@pytest.mark.parametrize("host", ["localhost:99999999", "localhost:port", "localhost:-1", "[::1", "\x7f", ""])
def test_a_host_that_is_none_is_refused(program: Program, host: str) -> None:
    with viewing(program) as viewer:
        assert viewer.get("/", Host=host).status in (400, 403)
