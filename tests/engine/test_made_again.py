"""Trials that are made again although they had an answer: the last attempt counts, for going on and for the summary."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.engine_kit import table_in

from benchwright.engine.ledger import Ledger
from benchwright.records import STATUSES_RETRIED_ON_RESUME, RequestRecord, Status, TrialRecord
from benchwright.runs.journal import Journal, encode_json
from benchwright.runs.journal import TrialBody as JournalBody
from benchwright.runs.keys import fingerprint


def key(name: str) -> str:
    return fingerprint("trial", name)


def write(directory: Path, *attempts: tuple[str, int, Status, float | None]) -> None:
    """A journal of attempts: trial, number of the attempt, status, score."""
    journal = Journal(directory)
    for place, (name, attempt, status, score) in enumerate(attempts):
        record = TrialRecord(
            key=key(name), sample=name, target="primary", status=status, attempt=attempt, started_at=place,
            scores={} if score is None else {"passed": score}, requests=[RequestRecord(f"r{place}")],
        )  # fmt: skip
        journal.write_trial(record, encode_json(JournalBody(key(name), attempt, status)))
    journal.close()


def ledger(directory: Path, least: float | None = None) -> Ledger:
    """What is done; with `least`, scores below that are to be made again."""
    retry = None if least is None else (lambda trial: trial.scores.get("passed", 0.0) < least)
    return Ledger(table_in(directory), STATUSES_RETRIED_ON_RESUME, retry)


def test_a_trial_that_got_worse_is_to_be_made_again_and_one_that_got_better_is_not(tmp_path: Path) -> None:
    write(
        tmp_path,
        ("better", 0, Status.SCORED, 0.0),
        ("worse", 0, Status.SCORED, 1.0),
        ("better", 1, Status.SCORED, 1.0),
        ("worse", 1, Status.SCORED, 0.0),
    )
    known = ledger(tmp_path, least=1.0)
    assert (known.is_finished(key("better")), known.is_finished(key("worse"))) == (True, False)
    assert (known.finished, known.next_attempt(key("worse"))) == (1, 2)
    assert ledger(tmp_path).finished == 2, "each counts once, however often it was made"


def test_an_attempt_that_the_provider_spoilt_takes_the_place_of_the_answer(tmp_path: Path) -> None:
    write(tmp_path, ("a", 0, Status.SCORED, 0.0), ("a", 1, Status.PROVIDER_ERROR, None))
    assert not ledger(tmp_path).is_finished(key("a"))
    assert ledger(tmp_path).next_attempt(key("a")) == 2


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [
        ([("a", 0, Status.SCORED, 0.0)], 0),
        ([("a", 0, Status.SCORED, 0.0), ("a", 1, Status.SCORED, 1.0)], 1),
        ([("a", 0, Status.SCORED, 0.0), ("a", 1, Status.CANCELLED, None)], 0),
        ([("a", 0, Status.EXECUTION_ERROR, None), ("a", 1, Status.CANCELLED, None), ("a", 2, Status.SCORED, 1.0)],
         2),
        ([("a", 0, Status.CANCELLED, None), ("a", 1, Status.SCORED, 1.0), ("a", 2, Status.CANCELLED, None)], 1),
    ],
)  # fmt: skip
def test_the_attempt_that_counts_is_the_last_that_was_not_cut_off(
    tmp_path: Path, attempts: list[tuple[str, int, Status, float | None]], expected: int
) -> None:
    write(tmp_path, *attempts)
    table = table_in(tmp_path)
    (row,) = table.counted_rows()
    assert table.read_trial(row).record.attempt == expected
    assert [one.record.attempt for one in table.read_attempts(row)] == list(range(len(attempts)))


def test_a_trial_that_was_only_ever_cut_off_does_not_count(tmp_path: Path) -> None:
    write(tmp_path, ("a", 0, Status.CANCELLED, None), ("a", 1, Status.CANCELLED, None))
    assert table_in(tmp_path).counted_rows().size == 0


def test_the_table_has_one_value_a_trial_and_all_requests(tmp_path: Path) -> None:
    write(
        tmp_path,
        ("a", 0, Status.SCORED, 0.0),
        ("b", 0, Status.EXECUTION_ERROR, None),
        ("a", 1, Status.SCORED, 1.0),
        ("b", 1, Status.SCORED, 1.0),
        ("a", 2, Status.CANCELLED, None),
    )
    table = table_in(tmp_path)
    rows = table.counted_rows("primary")
    assert table.status_counts(rows) == {"scored": 2}
    assert table.scores["passed"].values(rows).tolist() == [1.0, 1.0]
    assert table.requests["primary"].requests == 5
