"""What the plots of measurements under load show, and the report that has them."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest
from tests.app.app_kit import Program
from tests.app.load.load_kit import measure, runs_of
from tests.app.load.queue_kit import drawn
from tests.simulated import simulated_endpoint

from benchwright.analysis.load.figures import WindowFigures
from benchwright.analysis.load.load_measurement import read_load_measurement
from benchwright.analysis.load.measurement_windows import find_window
from benchwright.analysis.load.plot_data import DetailedLoad, level_detail_of
from benchwright.analysis.load.records import LevelPlan, LoadLevel, LoadReport
from benchwright.analysis.load.requests import read_requests
from benchwright.analysis.load.timeline import timeline_of
from benchwright.app.load.report import write_load_report
from benchwright.app.report import ReportSettings
from benchwright.endpoint.metrics_poller import ServerMetrics
from benchwright.runs.table import read_table
from benchwright.stats.windows import mean_concurrency

SERVER = ("--slots", "2", "--ttft", "10ms", "--itl", "1ms", "--policy", "words")
SENT = ("--synthetic-input", "20", "--synthetic-output", "8", "--slo", "latency=10", "--requests", "60")
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture(scope="module")
def loads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Program, LoadReport, LoadReport]]:
    """A closed loop at three levels, and an open one, of the same small server."""
    program = Program(tmp_path_factory.mktemp("loads"))
    with simulated_endpoint(*SERVER) as url:
        closed = measure(program, url, *SENT, "--concurrency", "1,2,4", "-o", "closed.json")
        opened = measure(program, url, *SENT, "--rate", "40")
    yield program, closed, opened
    program.end()


@pytest.fixture(scope="module")
def detailed(loads: tuple[Program, LoadReport, LoadReport]) -> DetailedLoad:
    found = read_load_measurement(read_table(path, effort=True) for path in runs_of(loads[0], loads[1]))
    assert found is not None
    return found


def written(program: Program, *arguments: str) -> str:
    """The page that `report` writes."""
    ended = program.run("report", *arguments, "-o", "page.html")
    assert ended.returncode == 0, ended.stderr
    return (program.directory / "page.html").read_text()


def titles(page: str) -> list[str]:
    return re.findall("<figcaption>(.*?)</figcaption>", page)


class TestCourse:
    def test_what_is_in_flight_is_what_every_bin_has_by_itself(
        self, loads: tuple[Program, LoadReport, LoadReport], detailed: DetailedLoad
    ) -> None:
        for run, detail in zip(runs_of(loads[0], loads[1]), detailed.details, strict=True):
            requests = read_requests(read_table(run, effort=True))
            course = detail.course
            assert course is not None
            edges = np.arange(len(course.in_flight) + 1) * course.width
            alone = [
                mean_concurrency(requests.start, requests.end, begin, end) for begin, end in pairwise(edges)
            ]
            assert course.in_flight == pytest.approx(alone, abs=1e-6)

    def test_every_answer_is_counted_once(self, detailed: DetailedLoad) -> None:
        for level, detail in zip(detailed.report.levels, detailed.details, strict=True):
            course = detail.course
            assert course is not None
            assert sum(course.answers) * course.width == pytest.approx(level.requests)

    def test_the_window_is_that_of_the_figures(self, detailed: DetailedLoad) -> None:
        for level, detail in zip(detailed.report.levels, detailed.details, strict=True):
            course = detail.course
            assert course is not None
            assert course.begin == level.begin
            assert course.end == pytest.approx(level.begin + level.seconds)

    def test_the_servers_own_metrics_are_those_of_the_same_seconds(self) -> None:
        requests = drawn(np.random.default_rng(1), 4, 20.0, 1.0)
        looks = [ServerMetrics(round(second * 1e9), running=float(second)) for second in range(-2, 40)]
        course = timeline_of(requests, None, looks)
        assert course is not None
        assert [one.running for one in course.server] == [one.at for one in course.server]
        assert 0 <= course.server[0].at < course.server[-1].at <= course.seconds


class TestSize:
    def test_a_detail_is_as_large_however_many_requests_there_were(self) -> None:
        requests = drawn(np.random.default_rng(1), 64, 3600.0, 1.0)
        assert requests.ok.size > 40_000
        requests = requests._replace(gaps=[dict.fromkeys(range(40, 240), 1)] * requests.ok.size)
        plan = LevelPlan("load-1", LoadLevel(concurrency=64))
        found = find_window(requests, plan)
        assert found is not None
        figures = WindowFigures(requests, found.window, open_loop=False)
        looks = [ServerMetrics(second * 10**9, running=1.0, waiting=2.0, cache=0.5) for second in range(3600)]
        detail = level_detail_of("run", requests, found, figures, looks)
        assert detail.course is not None
        assert max(len(detail.ttft), len(detail.course.in_flight), len(detail.course.server)) <= 161
        assert len(msgspec.json.encode(detail)) < 60_000


class TestDistributions:
    def test_they_rise_to_one_and_agree_with_the_figures(self, detailed: DetailedLoad) -> None:
        for level, detail in zip(detailed.report.levels, detailed.details, strict=True):
            assert level.ttft is not None
            assert level.gaps is not None
            for points in (detail.ttft, detail.gaps):
                assert points == sorted(points)
                assert points[-1][1] == 1
            assert len(detail.ttft) == level.ttft.n
            half = next(time for time, share in detail.ttft if share >= 0.5)
            assert half == pytest.approx(level.ttft.p50.value, rel=0.1)
            assert detail.gaps[-1][0] >= level.gaps.longest


class TestReport:
    def test_a_measurement_has_its_plots_tables_and_verdicts(
        self, loads: tuple[Program, LoadReport, LoadReport]
    ) -> None:
        program, closed, _ = loads
        page = written(program, closed.id)
        assert titles(page) == [
            "Latency against answers per second",
            "Time to first token against answers per second",
            "Goodput against load",
            "Time to first token",
            "Gaps between chunks",
            *(f"Course: {level} in flight" for level in (1, 2, 4)),
        ]
        for words in ("server: running", "Served", "Quality", "SIMULATED", closed.id, "<script"):
            assert (words in page) is (words != "<script")

    def test_several_lie_over_each_other_and_are_compared(
        self, loads: tuple[Program, LoadReport, LoadReport]
    ) -> None:
        program, closed, opened = loads
        page = written(program, closed.id, opened.id)
        for name in (f"A: m, {closed.id}", f"B: m, {opened.id}"):
            assert page.count(f">{name}</text>") == 2
        assert "serve" in page
        assert "Goodput against rate" in titles(page)

    def test_levels_that_both_have_share_a_plot(self, loads: tuple[Program, LoadReport, LoadReport]) -> None:
        program, closed, _ = loads
        found = titles(written(program, closed.id, "closed.json", closed.id))
        assert [title for title in found if title.startswith("Gaps")] == [
            f"Gaps between chunks, {level} in flight" for level in (1, 2, 4)
        ]

    def test_a_file_has_what_needs_no_journal(self, loads: tuple[Program, LoadReport, LoadReport]) -> None:
        assert titles(written(loads[0], "closed.json")) == [
            "Latency against answers per second",
            "Time to first token against answers per second",
            "Goodput against load",
        ]

    def test_the_report_of_one_level_has_its_course(
        self, loads: tuple[Program, LoadReport, LoadReport]
    ) -> None:
        program, closed, _ = loads
        page = written(program, closed.levels[-1].run)
        assert "Course: 4 in flight" in titles(page)
        assert "Conversations" in page

    def test_where_nothing_was_scored_there_is_no_table_of_scores(
        self, loads: tuple[Program, LoadReport, LoadReport]
    ) -> None:
        program, closed, _ = loads
        assert "<h3>Scores</h3>" not in written(program, closed.levels[0].run)

    def test_runs_and_measurements_do_not_mix(self, loads: tuple[Program, LoadReport, LoadReport]) -> None:
        program, closed, _ = loads
        ended = program.run("report", closed.id, closed.levels[0].run, "-o", "mixed.html")
        assert ended.returncode == 1
        assert "is not a measurement under load" in ended.stderr

    def test_names_of_others_are_text(self, detailed: DetailedLoad, tmp_path: Path) -> None:
        report = msgspec.structs.replace(detailed.report, model=HOSTILE, base_url=HOSTILE, prompts=HOSTILE)
        named = msgspec.structs.replace(detailed, report=report)
        write_load_report([named, named], tmp_path / "page.html", ReportSettings(title=HOSTILE))
        page = (tmp_path / "page.html").read_text()
        assert "&lt;script&gt;" in page
        assert "<script" not in page
        assert "\u202e" not in page

    def test_of_the_endpoint_only_the_host_is_told(self, detailed: DetailedLoad, tmp_path: Path) -> None:
        address = "https://me:hunter2secret@models.example:8443/team-path/v1"
        report = msgspec.structs.replace(detailed.report, base_url=address)
        write_load_report([DetailedLoad(report)] * 2, tmp_path / "page.html", ReportSettings())
        page = (tmp_path / "page.html").read_text()
        assert page.count("models.example:8443") == 4
        assert "hunter2secret" not in page
        assert "team-path" not in page


class TestFiles:
    def test_each_plot_is_a_drawing_that_stands_by_itself(
        self, loads: tuple[Program, LoadReport, LoadReport]
    ) -> None:
        program, closed, _ = loads
        page = written(program, closed.id, "--svg", "plots")
        files = sorted((program.directory / "plots").iterdir())
        assert len(files) == len(titles(page))
        for file in files:
            text = file.read_text()
            root = ElementTree.fromstring(text)
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert "var(" not in text
            assert "prefers-color-scheme: dark" in text

    def test_a_plot_is_replaced_and_another_file_is_not(
        self, loads: tuple[Program, LoadReport, LoadReport]
    ) -> None:
        program, closed, _ = loads
        for _ in range(2):
            written(program, closed.id, "--svg", "again")
        mine = program.directory / "again" / "time-to-first-token.svg"
        mine.write_text("<svg>my own</svg>")
        ended = program.run("report", closed.id, "--svg", "again", "-o", "page.html")
        assert (ended.returncode, mine.read_text()) == (1, "<svg>my own</svg>")

    def test_runs_have_none(self, loads: tuple[Program, LoadReport, LoadReport]) -> None:
        program, closed, _ = loads
        ended = program.run("report", closed.levels[0].run, "--svg", "none")
        assert ended.returncode == 2
        assert not (program.directory / "none").exists()


def test_runs_of_the_kind_are_listed_with_level_and_tag(
    loads: tuple[Program, LoadReport, LoadReport],
) -> None:
    program, closed, opened = loads
    rows = json.loads(program.run("runs", "--kind", "load", "--json").stdout)["runs"]
    assert sorted(row["level"] for row in rows) == ["c1", "c2", "c4", "r40"]
    assert {tag for row in rows for tag in row["tags"]} == {closed.id, opened.id}
    assert json.loads(program.run("runs", "--kind", "eval", "--json").stdout)["runs"] == []
