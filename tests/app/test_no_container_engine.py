"""Benchmarks in containers where there is no engine: one line that says what to do, before any model is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.app.eval_kit import Server
from tests.catalog.catalog_kit import write_rows
from tests.catalog.swe_bench.test_swe_bench_rows import ROW
from tests.catalog.swe_bench_multilingual.multilingual_kit import row as multilingual_row
from tests.catalog.swe_bench_pro.pro_kit import Data
from tests.catalog.terminal_bench.terminal_kit import write_first, write_harbor

from benchwright.catalog.registry import list_abouts


def _later(version: str) -> Callable[[Path], object]:
    return lambda data: write_harbor(data / f"terminal_bench:{version}" / "tasks")


DATA: dict[str, Callable[[Path], object]] = {
    "swe_bench": lambda data: write_rows(data / "swe_bench" / "test.jsonl", [ROW]),
    "swe_bench_multilingual": lambda data: write_rows(
        data / "swe_bench_multilingual" / "test.jsonl", [multilingual_row(1)]
    ),
    "swe_bench_pro": Data,
    "terminal_bench": lambda data: write_harbor(data / "terminal_bench"),
    "terminal_bench:1.0": lambda data: write_first(data / "terminal_bench:1.0"),
    **{f"terminal_bench:{version}": _later(version) for version in ("2.1", "3.0", "4.0")},
}
"""What lays the data of a benchmark into a directory."""

STOPPED = "Docker is not running: nothing answers at unix:///nowhere/docker.sock. Start it "
MISSING = "Docker is not installed: there is no engine at unix:///nowhere/docker.sock. Install it "


def test_every_benchmark_in_containers_is_tried_here() -> None:
    in_containers = {about.full_name for about in list_abouts() if "containers" in about.needs}
    assert {name for name in in_containers if not name.endswith(":documented")} == set(DATA)


@pytest.mark.parametrize("name", DATA)
def test_a_run_says_how_to_get_an_engine_and_asks_no_model(
    name: str, program: Program, server: Server
) -> None:
    DATA[name](program.directory / "data")
    before = server.asked()
    command = ["run", name, "--model", "m", "--base-url", server.base_url]
    ended = program.run(*command, DOCKER_HOST="unix:///nowhere/docker.sock")
    assert ended.returncode == 1
    assert one_line_of(ended.stderr).removeprefix("Error: ").startswith((STOPPED, MISSING))
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""
    assert server.asked() == before


def test_validating_says_the_same(program: Program) -> None:
    DATA["swe_bench"](program.directory / "data")
    ended = program.run("validate", "swe_bench", DOCKER_HOST="unix:///nowhere/docker.sock")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert one_line_of(ended.stderr).removeprefix("Error: ").startswith((STOPPED, MISSING))
