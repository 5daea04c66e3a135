"""The table of a run's trials: filters, words, orders and pages, and each trial as it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.compare_kit import Made, made, write_run

from benchwright.packs.types import PASSED, SCORE
from benchwright.records import Status
from benchwright.runs.journal import TRIALS_FILE
from benchwright.runs.manifest import Manifest, read_manifest
from benchwright.web.run_trials import RunTrials, TrialRow
from benchwright.web.trial_selection import (
    SORT_ORDERS,
    TRIAL_FILTERS,
    TrialQuery,
    TrialSelection,
    find_neighbours,
    natural_sort_key,
    select_trials,
)


def journal(directory: Path) -> Path:
    """Trials of every ending; sample 4 was made again, 5 was cut off the second time, 8 the only time."""
    trials = [
        *made([1.0, 0.0, None, 0.5], group="g"),
        Made("4", failed=Status.PROVIDER_ERROR),
        Made("4", 1.0, attempt=1),
        Made("5", 0.0),
        Made("5", failed=Status.CANCELLED, attempt=1),
        Made("6", failed=Status.TRUNCATED),
        Made("7", failed=Status.EXECUTION_ERROR),
        Made("8", failed=Status.CANCELLED),
    ]
    return write_run(directory, trials)


class Shown:
    """A run's trials, read to the end, and its manifest."""

    def __init__(self, directory: Path) -> None:
        self.manifest: Manifest = read_manifest(directory)
        self.trials = RunTrials(directory, [scorer.name for scorer in self.manifest.scorers])
        self.trials.read_all()
        self.rows = [self.trials.row(number) for number in range(len(self.trials.table))]

    def select(self, wanted: TrialQuery, size: int = 100) -> TrialSelection:
        return select_trials(self.manifest, self.trials.table, wanted, size)

    def samples(self, only: str) -> list[str]:
        return [self.rows[number].sample for number in self.select(TrialQuery(only)).row_numbers]

    def by_sample(self) -> dict[str, TrialRow]:
        return {row.sample: row for row in self.rows}


@pytest.fixture
def shown(tmp_path: Path) -> Shown:
    return Shown(journal(tmp_path / "run"))


def test_no_answer_counts_as_0_and_a_failure_is_neither_passed_nor_failed(shown: Shown) -> None:
    assert shown.samples("passed") == ["0", "4"]
    assert shown.samples("failed") == ["1", "2", "3", "5", "6"]
    assert shown.samples("errors") == ["7"]


def test_a_trial_that_was_only_ever_cut_off_is_listed_and_not_counted(shown: Shown) -> None:
    assert shown.samples("cut-off") == ["8"]
    row = shown.by_sample()["8"]
    assert (row.done, row.scores) == (False, {})
    assert len(shown.trials.table.counted_rows()) == 8
    assert len(shown.rows) == shown.select(TrialQuery()).total == 9


def test_what_was_cut_off_replaces_nothing_and_every_attempt_is_kept(shown: Shown) -> None:
    rows = shown.by_sample()
    assert (rows["4"].status, rows["4"].attempts, rows["4"].scores) == (Status.SCORED, 2, {"exact": 1.0})
    assert (rows["5"].status, rows["5"].attempts, rows["5"].scores) == (Status.SCORED, 2, {"exact": 0.0})


def test_a_line_that_is_no_record_is_counted_and_passed_over(tmp_path: Path) -> None:
    run = journal(tmp_path / "run")
    before = Shown(run).rows
    with (run / TRIALS_FILE).open("ab") as file:
        file.write(b"nonsense\n" + b'{"type":"trial","key":"torn')
    after = Shown(run)
    assert (after.rows, after.trials.table.unreadable) == (before, 1)


def test_a_trial_of_one_target_is_told_from_that_of_another(tmp_path: Path) -> None:
    shown = Shown(write_run(tmp_path / "run", [*made([1.0, 1.0]), *made([0.0, 0.0], slot="baseline")]))
    find = shown.trials.find
    assert (find("1", "primary", 0), find("1", "baseline", 0), find("1", None, 0)) == (1, 3, 1)
    assert find("1", "judge", 0) is None
    assert find("1", "primary", 1) is None
    assert [row.target for row in shown.trials.trials_of_sample("1")] == ["baseline", "primary"]
    assert shown.select(TrialQuery(filter="flipped")).row_numbers == [0, 1, 2, 3]
    assert shown.select(TrialQuery(target="baseline")).row_numbers == [2, 3]


def test_a_pack_passes_by_its_own_status_and_not_by_its_points(tmp_path: Path) -> None:
    trials = [Made("low", own={PASSED: 0.0, SCORE: 40.0}), Made("high", own={PASSED: 1.0, SCORE: 90.0})]
    shown = Shown(write_run(tmp_path / "run", trials, kind="pack", scorers=[]))
    assert shown.samples("passed") == ["high"]
    assert shown.samples("failed") == ["low"]


@pytest.mark.parametrize("order", SORT_ORDERS)
@pytest.mark.parametrize("only", TRIAL_FILTERS)
def test_pages_put_together_are_the_whole_table(shown: Shown, only: str, order: str) -> None:
    wanted = TrialQuery(only, order=order)
    whole = shown.select(wanted)
    pages = [shown.select(TrialQuery(only, order=order, page=page), 3).row_numbers for page in range(1, 5)]
    assert [number for page in pages for number in page] == whole.row_numbers
    assert len(whole.row_numbers) == whole.total == whole.counts[only]
    for before, after in zip(whole.row_numbers, whole.row_numbers[1:], strict=False):
        assert find_neighbours(shown.manifest, shown.trials.table, wanted, before).after == after
        assert find_neighbours(shown.manifest, shown.trials.table, wanted, after).before == before


def test_the_lowest_scores_come_first_and_failures_last(shown: Shown) -> None:
    numbers = shown.select(TrialQuery(order="worst")).row_numbers
    assert [shown.rows[number].sample for number in numbers] == ["1", "2", "5", "6", "3", "0", "4", "7", "8"]


def test_trials_with_flags_are_told_by_them_whatever_they_scored(tmp_path: Path) -> None:
    trials = [*made([1.0, 0.0]), Made("2", 1.0, flags={"forged": "x"}), Made("3", 0.0, flags={"forged": "x"})]
    shown = Shown(write_run(tmp_path / "run", trials))
    assert shown.samples("flagged") == ["2", "3"]
    assert (shown.samples("passed"), shown.samples("failed")) == (["0", "2"], ["1", "3"])


def test_words_are_looked_for_in_id_and_group(shown: Shown) -> None:
    assert shown.select(TrialQuery(search_words="G 3")).row_numbers == [3]


def test_slow_is_the_slowest_twentieth(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [Made(str(n), latency=0.1 + n * 0.01) for n in range(100)])
    assert Shown(run).select(TrialQuery(filter="slow")).row_numbers == [95, 96, 97, 98, 99]


@given(st.lists(st.integers(0, 10**6)))
def test_numbers_in_ids_are_ordered_as_numbers(numbers: list[int]) -> None:
    for form in ("{}", "mmlu_{}", "TC-{}"):
        ids = [form.format(number) for number in numbers]
        assert sorted(ids, key=natural_sort_key) == [form.format(number) for number in sorted(numbers)]
