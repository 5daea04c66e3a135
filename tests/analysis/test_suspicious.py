"""Suspicious passes: which passes of a run have flags, of what kind, and that they stay what they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.app.compare_kit import Made, made, write_run

from benchwright.analysis.summary import summary_of
from benchwright.analysis.summary_records import TargetSummary
from benchwright.analysis.suspicious_passes import SuspiciousPasses, suspicious_lines
from benchwright.records import ScoreRecord, Status
from benchwright.runs.flags import Flag, flags_in
from benchwright.runs.journal import Journal
from benchwright.runs.keys import fingerprint
from benchwright.runs.table import read_table

TOOLS = {"verdict_depends_on_changed_tools": "changed: /usr/bin/python"}
IMAGE = {"solution_in_image": "/app/old/solve.sh is solution/solve.sh"}


def target_of(directory: Path, *trials: Made) -> TargetSummary:
    return summary_of(write_run(directory / "run", trials)).targets[0]


def test_passes_with_flags_are_counted_by_kind(tmp_path: Path) -> None:
    found = target_of(
        tmp_path, *made([1.0, 0.0]), Made("2", 1.0, flags=TOOLS), Made("3", 1.0, flags=TOOLS | IMAGE)
    ).suspicious
    assert found == SuspiciousPasses(
        passes=3, suspicious=2, kinds={"verdict_depends_on_changed_tools": 2, "solution_in_image": 1}
    )


def test_a_flagged_trial_counts_as_before(tmp_path: Path) -> None:
    target = target_of(tmp_path, Made("0", 1.0, flags=TOOLS), Made("1", 0.0), Made("2", 0.0, flags=IMAGE))
    assert (target.trials, target.scores[0].n_scored) == (3, 3)
    assert target.scores[0].mean == pytest.approx(1 / 3)
    assert target.suspicious is not None
    assert (target.suspicious.suspicious, target.suspicious.others) == (1, 1)


def test_without_flags_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert target_of(tmp_path, *made([1.0, 0.0])).suspicious is None
    assert list(suspicious_lines(None)) == []


@pytest.mark.parametrize("seal", ["sealed", "official"])
def test_a_run_of_agents_says_how_it_was_run_even_without_flags(tmp_path: Path, seal: str) -> None:
    directory = write_run(tmp_path / "run", made([1.0, 0.0]), about={"seal": seal})
    found = summary_of(directory).targets[0].suspicious
    assert found == SuspiciousPasses(passes=1, suspicious=0, seal=seal)
    assert list(suspicious_lines(found)) == [f"{seal}: 0 of 1 pass is suspicious"]


def test_a_share_of_the_points_is_no_pass(tmp_path: Path) -> None:
    found = target_of(tmp_path, Made("0", 0.5, flags=TOOLS)).suspicious
    assert found == SuspiciousPasses(passes=0, suspicious=0, others=1)


def test_what_is_said_of_them() -> None:
    found = SuspiciousPasses(passes=12, suspicious=3, kinds={"solution_in_image": 2, "forged": 1}, others=1)
    assert list(suspicious_lines(found)) == [
        "3 of 12 passes are suspicious: 2 solution in image, 1 forged",
        "1 trial with flags did not pass",
    ]
    one = SuspiciousPasses(passes=1, suspicious=1, kinds={"forged": 1})
    assert list(suspicious_lines(one)) == ["1 of 1 pass is suspicious: 1 forged"]


def test_an_attempt_that_counts_no_more_takes_its_flags_with_it(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [Made("0", 1.0, flags=TOOLS), Made("0", 1.0, attempt=1)])
    assert read_table(run).flagged.flagged_rows() == []


def test_a_score_that_is_made_again_has_its_own_flags(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [Made("0", 1.0, flags=TOOLS)])
    key = fingerprint("0", 0, "primary")
    journal = Journal(run)
    journal.write_lines(ScoreRecord("again", key, "exact", 1.0, Status.SCORED, detail={"flags": []}))
    journal.close()
    assert read_table(run).flagged.flagged_rows() == []


def test_details_of_any_shape_are_read() -> None:
    flags = [{"kind": "forged", "evidence": 3}, {"evidence": "no kind"}, "text", None]
    assert flags_in({"flags": flags}) == [Flag("forged", "3")]
    assert flags_in({"flags": "forged"}) == flags_in({}) == flags_in(None) == []
