"""What a summary says of its figures is true, and the same in a terminal, in a report and in the viewer."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.app.compare_kit import Made, made, write_run
from tests.known import known
from tests.rendered import as_text
from tests.web.web_kit import viewing

from benchwright.analysis.summary import summary_of
from benchwright.analysis.summary_records import ScoreSummary
from benchwright.app.report import ReportSettings, make_report
from benchwright.reports.html.page import render_report
from benchwright.reports.summary import render_summary

EQUAL = "interval of equal scores in a known range (Clopper-Pearson), 60 samples"
UNKNOWN = "no interval, because all scores are equal and their range is not known, 60 samples"

CASES = {
    "equal": (made([0.5] * 60), EQUAL),
    "equal and of no known range": (made([3.0] * 60), UNKNOWN),
    "one sample": (made([0.5]), "too few samples for an interval, 1 sample"),
    "one group": (
        [Made(str(n), 0.1 * n, group="only") for n in range(6)],
        "too few groups for an interval, 6 samples in 1 group",
    ),
}


@pytest.mark.parametrize(("trials", "said"), CASES.values(), ids=CASES)
def test_why_a_score_has_its_interval_or_none(trials: list[Made], said: str, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", trials)
    assert f"exact: {said}" in as_text(render_summary(summary_of(run)))


def test_equal_scores_have_the_interval_that_their_range_allows(tmp_path: Path) -> None:
    score = score_of(write_run(tmp_path / "run", made([0.5] * 60)), "exact")
    assert score.method == "bounded"
    assert (known(score.low), known(score.high)) == pytest.approx((0.47, 0.53), abs=0.001)


def test_a_packs_points_that_are_all_0_are_no_shares_of_1(tmp_path: Path) -> None:
    """20 cells of 0 points: the mean could well be 10 of 100 points."""
    cells = [Made(str(n), own={"score": 0.0}) for n in range(20)]
    score = score_of(write_run(tmp_path / "run", cells, kind="pack"), "score")
    assert known(score.high) == pytest.approx(16.8, abs=0.1)


def test_scores_beyond_the_range_that_they_should_have_are_told_all_the_same(tmp_path: Path) -> None:
    """A user's own benchmark may score 2 of 1."""
    about = {"benchmark": "own", "breakdowns": [], "departures": []}
    score = score_of(write_run(tmp_path / "run", made([2.0] * 9), kind="benchmark", about=about), "exact")
    assert (score.mean_scored, score.method, score.low) == (2.0, "none", None)


def test_the_report_and_the_viewer_say_the_same(tmp_path: Path) -> None:
    program = Program(tmp_path)
    run = write_run(program.home / "runs" / "20260101T000000-words-00000000", made([0.5] * 60))
    with viewing(program) as viewer:
        page = viewer.get(f"/runs/{run.name}").text
    program.end()
    for text in (page, render_report(make_report([str(run)], ReportSettings()))):
        assert EQUAL in text
        assert "[0.470, 0.530]" in text.replace("&nbsp;", " ")


def score_of(run: Path, name: str) -> ScoreSummary:
    (target,) = summary_of(run).targets
    return next(score for score in target.scores if score.scorer == name)
