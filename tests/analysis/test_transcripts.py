"""The conversations of one sample: every attempt, its scores, and what is said where its body was lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console
from tests.app.compare_kit import Made, write_run

from benchwright.analysis.transcripts import transcripts
from benchwright.errors import UserError
from benchwright.records import Status
from benchwright.reports.transcript import render_transcripts
from benchwright.runs.journal import BODIES_FILE
from benchwright.runs.table import read_table

TRIALS = [
    Made("0", 1.0),
    Made("0", failed=Status.PROVIDER_ERROR, repeat=1),
    Made("0", 0.0, repeat=1, attempt=1),
    Made("1", 1.0),
]


def test_every_attempt_is_there_with_its_own_scores(tmp_path: Path) -> None:
    found = transcripts(read_table(write_run(tmp_path / "run", TRIALS)), "0")
    assert [(one.trial.repeat, one.trial.attempt, one.trial.status) for one in found] == [
        (0, 0, Status.ANSWERED),
        (1, 0, Status.PROVIDER_ERROR),
        (1, 1, Status.ANSWERED),
    ]
    assert [[score.value for score in one.scores] for one in found] == [[1.0], [], [0.0]]


def test_a_conversation_that_was_lost_is_told_and_the_others_are_shown(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", TRIALS)
    first, second, *others = (run / BODIES_FILE).read_bytes().splitlines(keepends=True)
    (run / BODIES_FILE).write_bytes(b"".join([first, b"x" * (len(second) - 1) + b"\n", *others]))
    found = transcripts(read_table(run), "0")
    assert [one.body is None for one in found] == [False, True, False]
    console = Console(record=True, width=100)
    console.print(render_transcripts(found))
    text = console.export_text()
    assert text.count("The conversation was lost.") == 1
    assert text.count("question 0") == 4, "in short and in the conversation"


def test_a_sample_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no trial of row 7"):
        transcripts(read_table(write_run(tmp_path / "run", TRIALS)), "7")


def test_results_of_many_tests_are_shown_in_short(tmp_path: Path) -> None:
    results = {f"test_{number}": number not in (3, 4) for number in range(40)}
    detail = {"pass_to_pass_results": results, "fail_to_pass_results": {"test_new": True}}
    run = write_run(tmp_path / "run", [Made("0", 0.0, detail=detail)])
    console = Console(record=True, width=500)
    console.print(render_transcripts(transcripts(read_table(run), "0")))
    text = console.export_text()
    assert '"pass_to_pass_results":"38 of 40 passed; failed: test_3, test_4"' in text
    assert '"fail_to_pass_results":{"test_new":true}' in text
