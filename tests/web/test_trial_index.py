"""The columns of a journal: the same however it is read, and the same as the summary has it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from benchwright.web.progress_counter import ProgressCounter
from benchwright.web.trial_index import TrialIndex
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.app.compare_kit import Made, made, write_run

from benchwright.analysis.summary import summary_of
from benchwright.records import ScoreRecord, Status, TrialRecord
from benchwright.runs.journal import TRIALS, read_line
from benchwright.web.trial_selection import FILTERS, ORDERS, Wanted, natural, neighbours, select


def journal(directory: Path) -> Path:
    """Trials of every ending; sample 4 was cut off at first and then made again, 5 the other way round."""
    trials = [
        *made([1.0, 0.0, None, 0.5], group="g"),
        Made("4", failed=Status.PROVIDER_ERROR),
        Made("4", 1.0, attempt=1),
        Made("5", 0.0),
        Made("5", failed=Status.CANCELLED, attempt=1),
        Made("6", failed=Status.TRUNCATED),
        Made("7", failed=Status.EXECUTION_ERROR),
    ]
    return write_run(directory, trials)


def rows(index: TrialIndex) -> list[Any]:
    return [index.row(number) for number in range(len(index))]


def read(directory: Path) -> TrialIndex:
    index = TrialIndex(directory)
    assert index.advance()
    return index


@settings(max_examples=30, deadline=None)
@given(cuts=st.lists(st.floats(0, 1), max_size=6))
def test_a_journal_that_grows_is_read_like_one_that_was_always_whole(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[float]
) -> None:
    whole = journal(tmp_path_factory.mktemp("whole") / "run")
    content = (whole / TRIALS).read_bytes()
    growing = tmp_path_factory.mktemp("growing")
    index, counter = TrialIndex(growing), ProgressCounter(growing)
    for cut in [*sorted(cuts), 1.0]:
        (growing / TRIALS).write_bytes(content[: round(cut * len(content))])
        index.advance()
        counter.advance(10**6)
    assert rows(index) == rows(read(whole))
    assert index.position == counter.position == len(content)


def test_statuses_and_scores_are_those_of_the_summary(tmp_path: Path) -> None:
    run = journal(tmp_path / "run")
    target = summary_of(run).targets[0]
    found = rows(read(run))
    assert Counter(str(row.status) for row in found) == target.statuses
    values = [row.scores["exact"] for row in found if row.scores]
    assert len(values) == target.scores[0].n_scored
    assert sum(values) / len(values) == target.scores[0].mean_scored


def test_every_attempt_is_kept_and_what_was_cut_off_replaces_nothing(tmp_path: Path) -> None:
    run = journal(tmp_path / "run")
    index = read(run)
    by_sample = {row.sample: row for row in rows(index)}
    assert (by_sample["4"].status, by_sample["4"].attempts) == (Status.SCORED, 2)
    assert (by_sample["5"].status, by_sample["5"].scores) == (Status.SCORED, {"exact": 0.0})
    number = index.find("4", "primary", 0)
    assert number is not None
    lines = [read_line(run, offset) for offset in index.attempts(number)]
    assert [line.attempt for line in lines if isinstance(line, TrialRecord)] == [0, 1]
    assert isinstance(read_line(run, index.scores(number)[0]), ScoreRecord)


def test_a_line_that_is_none_is_counted_and_passed_over(tmp_path: Path) -> None:
    run = journal(tmp_path / "run")
    before = rows(read(run))
    with (run / TRIALS).open("ab") as file:
        file.write(b"nonsense\n" + b'{"type":"trial","key":"torn')
    index = read(run)
    assert (rows(index), index.unreadable) == (before, 1)


def test_a_trial_of_one_target_is_told_from_that_of_another(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*made([1.0, 1.0]), *made([0.0, 0.0], slot="baseline")])
    index = read(run)
    assert index.find("1", "primary", 0) == 1
    assert index.find("1", "baseline", 0) == 3
    assert index.find("1", None, 0) == 1
    assert index.find("1", "judge", 0) is None
    assert index.find("1", "primary", 1) is None
    flipped = select(index, Wanted(only="flipped"), 1.0, 10)
    assert flipped.numbers == [0, 1, 2, 3]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("only", FILTERS)
def test_pages_put_together_are_the_whole_table(tmp_path: Path, only: str, order: str) -> None:
    index = read(journal(tmp_path / "run"))
    whole = select(index, Wanted(only, order=order), 1.0, 100)
    pages = [select(index, Wanted(only, order=order, page=page), 1.0, 3).numbers for page in range(1, 5)]
    assert [number for page in pages for number in page] == whole.numbers
    assert len(whole.numbers) == whole.found == whole.counts[only]
    for before, after in zip(whole.numbers, whole.numbers[1:], strict=False):
        assert neighbours(index, Wanted(only, order=order), 1.0, before)[1] == after


def test_words_are_looked_for_in_id_and_group(tmp_path: Path) -> None:
    index = read(journal(tmp_path / "run"))
    assert select(index, Wanted(words="G 3"), 1.0, 10).numbers == [3]


def test_slow_is_the_slowest_twentieth(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [Made(str(n), latency=0.1 + n * 0.01) for n in range(100)])
    assert select(read(run), Wanted(only="slow"), 1.0, 100).numbers == [95, 96, 97, 98, 99]


@given(st.lists(st.integers(0, 10**6)))
def test_numbers_in_ids_are_ordered_as_numbers(numbers: list[int]) -> None:
    for form in ("{}", "mmlu_{}", "TC-{}"):
        ids = [form.format(number) for number in numbers]
        assert sorted(ids, key=natural) == [form.format(number) for number in sorted(numbers)]


def test_progress_counts_the_last_session_and_what_was_done_before(tmp_path: Path) -> None:
    from benchwright.records import RunEvent
    from benchwright.runs.journal import Journal

    run = write_run(tmp_path / "run", made([1.0] * 3), finished=False)
    journal = Journal(run)
    journal.write(RunEvent("started", 10**9, {"total": 10, "finished": 3}))
    journal.close()
    counter = ProgressCounter(run)
    while counter.advance(400):
        pass
    assert (counter.done, counter.total, counter.rate(2 * 10**9)) == (3, 10, None)
    with (run / TRIALS).open("ab") as file:
        file.write(b'{"type":"trial","key":"k","sample":"s","target":"t","status":"answered"}\n' * 2)
    counter.advance(10**6)
    assert (counter.done, counter.rate(2 * 10**9), counter.eta(2 * 10**9)) == (5, 2.0, 2.5)
