"""One of anything is called by the singular, whoever counts it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.app.compare_kit import Made, made, write_run
from tests.app.pack_kit import Packs, need_node, scenario
from tests.rendered import as_text
from tests.simulated import simulated_endpoint
from tests.web.web_kit import viewing

from benchwright.analysis.request_lines import request_lines
from benchwright.analysis.request_summary import RequestSummary
from benchwright.analysis.summary import summary_of
from benchwright.app.report import ReportSettings, make_report
from benchwright.formats import count_with_noun
from benchwright.reports.html.page import render_report
from benchwright.reports.summary import render_summary

WRONG = ("1 trials", "1 samples", "1 requests", "1 runs", "1 models", "1 scenarios", "1 attempts", "1 groups")


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 trials"), (1, "1 trial"), (2, "2 trials"), (1_234_567, "1,234,567 trials")]
)
def test_a_count_with_its_noun(count: int, text: str) -> None:
    assert count_with_noun(count, "trial") == text


def wrong_in(text: str) -> list[str]:
    return [wrong for wrong in WRONG if f" {wrong}" in f" {text}".replace(">", " ").replace("(", " ")]


def test_the_summary_and_the_report_of_one_trial(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [Made("0", 0.5, group="only")])
    shown = as_text(render_summary(summary_of(run)))
    assert "primary: model  1 trial: 1 scored" in shown
    assert "1 request in" in shown
    page = render_report(make_report([str(run)], ReportSettings()))
    assert (wrong_in(shown), wrong_in(page)) == ([], [])


def test_the_viewer_of_one_run_of_one_trial(tmp_path: Path) -> None:
    program = Program(tmp_path)
    run = write_run(program.home / "runs" / "20260101T000000-one-00000000", made([1.0]))
    with viewing(program) as viewer:
        pages = viewer.get("/").text + viewer.get(f"/runs/{run.name}").text
    program.end()
    assert "<span>1 run</span>" in pages
    assert "1 trial:" in pages
    assert wrong_in(pages) == []


def test_a_pack_of_one_scenario_for_one_model(tmp_path: Path) -> None:
    need_node()
    program = Program(tmp_path)
    pack = Packs(program).pack("one", [scenario("A-01")])
    with simulated_endpoint() as url:
        command = ["pack", "run", pack, "--model", "m", "--base-url", url]
        planned, ended = program.run(*command, "--dry-run"), program.run(*command)
    program.end()
    assert "1 cell (1 scenario, 1 model, 1 attempt)" in planned.stdout + planned.stderr
    assert "1 scenario, 1 model" in ended.stdout
    assert wrong_in(planned.stdout + planned.stderr + ended.stdout + ended.stderr) == []


def test_one_request_that_is_not_timed() -> None:
    requests = RequestSummary(total_requests=8, settling_requests=1)
    assert request_lines(requests) == ["Timings leave out 1 request made while the concurrency settled."]
