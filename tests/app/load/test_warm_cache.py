"""A server that knew the prompts before it was asked: such levels are marked, those that share by design are not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.app.app_kit import Program
from tests.app.load.load_kit import measure, prompts, runs_of
from tests.simulated import simulated_endpoint

from benchwright.analysis.load.records import LoadReport
from benchwright.runs.tags_and_notes import read_tags

SYNTHETIC = ("--synthetic-input", "300", "--seed", "7", "--concurrency", "1,2", "--requests", "10")


@pytest.fixture
def caching() -> Iterator[str]:
    """A server with a prefix cache that reports what it took from there."""
    with simulated_endpoint("--policy", "words", "--words", "4", "--prefix-cache") as base_url:
        yield base_url


def warm(report: LoadReport) -> list[bool]:
    return [level.warm_cache for level in report.levels]


def tags(program: Program, report: LoadReport) -> list[bool]:
    """Which runs of a measurement are tagged as answered from a warm cache."""
    return ["warm-cache" in read_tags(run) for run in runs_of(program, report)]


def test_prompts_of_an_earlier_measurement_mark_every_level(program: Program, caching: str) -> None:
    first, second = (measure(program, caching, *SYNTHETIC) for _ in range(2))
    assert (warm(first), warm(second)) == ([False, False], [True, True])
    assert (tags(program, first), tags(program, second)) == ([False, False], [True, True])
    for level in second.levels:
        assert level.unexpected_cached is not None
        assert 0.7 < level.unexpected_cached < 1


def test_the_table_marks_such_levels_and_says_what_that_means(program: Program, caching: str) -> None:
    measure(program, caching, *SYNTHETIC)
    told = program.run("load", "--model", "m", "--base-url", caching, *SYNTHETIC).stdout
    first = [words[0].replace("!", "") for words in map(str.split, told.splitlines()) if words]
    assert [word for word in first if word in ("1*", "2*")] == ["1*", "2*"], "a busy client adds a !"
    assert "WARM CACHE where marked *: at 1 " in " ".join(told.split())


def test_such_a_level_says_so_wherever_its_run_is_shown(program: Program, caching: str) -> None:
    measure(program, caching, *SYNTHETIC)
    level = runs_of(program, measure(program, caching, *SYNTHETIC))[0]
    assert "Warm cache: the server had more than 10%" in program.run("show", level.name).stdout
    assert program.run("report", level.name, "-o", "level.html").returncode == 0
    assert "Warm cache: the server had more than 10%" in (program.directory / "level.html").read_text()


def test_new_prompts_are_not_marked(program: Program, caching: str) -> None:
    reports = [
        measure(program, caching, *(one for one in SYNTHETIC if one not in ("--seed", "7"))) for _ in range(2)
    ]
    assert [warm(report) for report in reports] == [[False, False], [False, False]]


def test_prompts_that_come_round_again_and_a_prefix_they_share_are_expected(
    program: Program, caching: str
) -> None:
    shared = " ".join(f"rule{number}" for number in range(200))
    rows = prompts(program, [f"{shared} question {number} " + f"word{number} " * 40 for number in range(5)])
    report = measure(program, caching, "--dataset", rows, "--concurrency", "1,2", "--requests", "20")
    assert warm(report) == [False, False]
    assert all(level.cached is not None and level.cached > 0.7 for level in report.levels)


def test_a_server_that_does_not_say_what_was_cached_is_not_marked(program: Program) -> None:
    with simulated_endpoint("--policy", "words", "--words", "4") as silent:
        reports = [measure(program, silent, *SYNTHETIC) for _ in range(2)]
    assert [level.unexpected_cached for report in reports for level in report.levels] == [None] * 4


def test_the_share_that_the_server_counts_is_that_of_its_answers(program: Program, caching: str) -> None:
    """Its counters at /metrics, before and after a level that nobody else disturbs, and the usage of each answer."""
    measure(program, caching, *SYNTHETIC)
    for level in measure(program, caching, *SYNTHETIC, "--warmup", "0").levels:
        assert level.server is not None
        assert level.cached is not None
        assert level.server.cached == pytest.approx(level.cached, abs=0.01)
