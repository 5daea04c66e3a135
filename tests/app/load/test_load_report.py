"""`report LOAD`: the plots of measurements under load as a page, and as SVG files."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.app_kit import Program, one_line_of
from tests.app.load.load_kit import measure
from tests.app.load.queue_kit import drawn
from tests.simulated import simulated_endpoint

from benchwright.analysis.load.records import Level, LevelResult, LoadReport
from benchwright.analysis.report.loads import load_part, request_seconds

Measured = tuple[Program, LoadReport]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    program = Program(tmp_path_factory.mktemp("loads"))
    synthetic = ("--synthetic-input", "32", "--synthetic-output", "6", "--requests", "40", "--slo", "ttft=1")
    with simulated_endpoint("--first-token", "10", "--between-tokens", "3", "--slots", "4") as url:
        report = measure(program, url, *synthetic, "--concurrency", "2,8", "-o", "load.json")
    return program, report


@pytest.fixture
def at_home(measured: Measured, monkeypatch: pytest.MonkeyPatch) -> LoadReport:
    """The measurement, in a process of which the program's home is the home."""
    program, report = measured
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(program.home))
    return report


def test_the_report_has_curves_distributions_and_the_course_of_each_level(measured: Measured) -> None:
    program, report = measured
    ended = program.run("report", report.id, "-o", "load.html")
    assert ended.returncode == 0, ended.stderr
    page = (program.directory / "load.html").read_text()
    for title in (
        "Latency against answers per second",
        "Time to first token against answers per second",
        "Goodput against requests in flight",
        "Time to first token: the share of requests",
        "Gaps between chunks: the share of requests",
        "2 in flight: its course",
        "8 in flight: its course",
    ):
        assert title in page
    assert "<script" not in page


def test_plots_are_written_as_files_that_are_whole_by_themselves(measured: Measured) -> None:
    program, report = measured
    ended = program.run("report", report.id, "-o", "svg.html", "--svg", "plots")
    assert ended.returncode == 0, ended.stderr
    files = sorted((program.directory / "plots").iterdir())
    assert len(files) == 3 + 2 + 2
    for file in files:
        root = ElementTree.fromstring(file.read_text())
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert root.get("aria-label")


def test_several_measurements_are_laid_over_each_other_and_compared(measured: Measured) -> None:
    program, report = measured
    ended = program.run("report", report.id, "load.json", "-o", "two.html")
    assert ended.returncode == 0, ended.stderr
    page = (program.directory / "two.html").read_text()
    assert page.count("Latency against answers per second</figcaption>") == 1
    assert page.count("its course</figcaption>") == 4
    assert "Nothing is shown to differ" in page or "Each was measured once" in page


def test_runs_and_measurements_are_not_mixed(measured: Measured) -> None:
    program, report = measured
    ended = program.run("report", report.id, report.levels[0].run)
    assert ended.returncode == 1
    assert "compare like with like" in one_line_of(ended.stderr)


def test_plots_as_files_are_those_of_measurements(measured: Measured) -> None:
    program, report = measured
    ended = program.run("report", report.levels[0].run, "--svg", "plots")
    assert ended.returncode == 1
    assert "give their tags" in one_line_of(ended.stderr)


def test_levels_whose_runs_are_gone_keep_their_figures(tmp_path: object) -> None:
    level = LevelResult(Level(concurrency=1), "deleted", "finished", 9)
    report = LoadReport("load-1", "synthetic", "m", "http://127.0.0.1:9/v1", "prompts", [], [level])
    part = load_part(report)
    assert (part.distributions, part.courses) == ([], [])


def test_a_course_adds_up_to_the_requests_of_its_level(at_home: LoadReport) -> None:
    part = load_part(at_home)
    assert [one.level.name for one in part.courses] == ["2", "8"]
    for found, level in zip(part.courses, at_home.levels, strict=True):
        assert sum(found.answers) * found.step == pytest.approx(level.requests - level.failed)
        assert max(found.in_flight) <= level.level.height + 1e-9
        assert found.window is not None
        assert found.window[1] - found.window[0] == pytest.approx(level.seconds)


def test_a_distribution_rises_to_all_requests(at_home: LoadReport) -> None:
    for found in load_part(at_home).distributions:
        for one in found.curves:
            shares = [share for _, share in one.points]
            assert shares == sorted(shares)
            assert shares[-1] == pytest.approx(1)
            assert len(one.points) <= 201


@given(st.integers(0, 99), st.integers(1, 12), st.floats(0, 30))
def test_the_seconds_that_requests_were_under_way_are_counted_one_by_one(
    seed: int, concurrency: int, moment: float
) -> None:
    requests = drawn(np.random.default_rng(seed), concurrency, 20.0, 1.0)
    pairs = zip(requests.start.tolist(), requests.end.tolist(), strict=True)
    counted = sum(min(moment, end) - min(moment, start) for start, end in pairs)
    assert request_seconds(requests, np.array([moment]))[0] == pytest.approx(counted, abs=1e-6)
