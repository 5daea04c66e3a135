"""A cache file that grows with the journal of an eval that is going on."""

from __future__ import annotations

import json
from pathlib import Path

from tests.agents.cache.cache_kit import HandWritten, manifest

from benchwright.agents.cache.entry import add_runs, new_entry, read_entry, read_entry_head, write_entry
from benchwright.agents.cache.new_runs import NewRuns
from benchwright.agents.cache.runs import DocumentedRun, DocumentedRuns
from benchwright.records import FAILED_STATUSES, STATUSES_RETRIED_ON_RESUME, Status

ONE = manifest("m")


def scored(journal: HandWritten, row: int, value: float) -> None:
    """A trial that both scorers have scored."""
    journal.trial(row)
    journal.score(row, value)
    journal.score(row, value, scorer="short")


class TestNewRuns:
    def test_are_those_after_the_table_was_read_each_given_once(self, journal: HandWritten) -> None:
        scored(journal, 0, 1.0)
        new = NewRuns(journal.table(ONE), ONE)
        scored(journal, 2, 0.5)
        journal.trial(1, status=Status.EXECUTION_ERROR, reason="ValueError: no")
        first = [run for _, run in new.read_new()]
        scored(journal, 3, 1.0)
        second = [run for _, run in new.read_new()]
        assert [(run.row_index, run.success, run.scores) for run in first] == [
            (2, True, {"right": 0.5, "short": 0.5}),
            (1, False, {}),
        ]
        assert [run.row_index for run in second] == [3]

    def test_are_what_the_finished_run_will_show(self, journal: HandWritten) -> None:
        new = NewRuns(journal.table(ONE), ONE)
        scored(journal, 0, 0.25)
        journal.trial(1, status=Status.PROVIDER_ERROR)
        journal.trial(2, status=Status.REFUSED)
        journal.score(2, None)
        journal.score(2, None, scorer="short")
        assert [run for _, run in new.read_new()] == list(journal.runs(ONE))

    def test_wait_for_all_their_scores(self, journal: HandWritten) -> None:
        new = NewRuns(journal.table(ONE), ONE)
        journal.trial(0)
        journal.score(0, 1.0)
        assert list(new.read_new()) == []
        journal.score(0, 0.0, scorer="short")
        assert [run.scores for _, run in new.read_new()] == [{"right": 1.0, "short": 0.0}]

    def test_are_none_where_a_trial_was_cut_off(self, journal: HandWritten) -> None:
        new = NewRuns(journal.table(ONE), ONE)
        journal.trial(0, status=Status.CANCELLED)
        assert list(new.read_new()) == []


class TestUnderWay:
    """What a cache file holds when a session begins."""

    def test_what_is_not_scored_by_all_is_no_run_yet(self, journal: HandWritten) -> None:
        scored(journal, 0, 1.0)
        journal.trial(1)
        journal.score(1, 1.0)
        journal.trial(2, status=Status.EXECUTION_ERROR)
        runs = DocumentedRuns(journal.table(ONE), ONE, under_way=True)
        assert [run.row_index for run in runs] == [0, 2]
        assert runs.statistics(ONE.targets[0])["right"].mean == 0.5, "of the two"

    def test_what_is_made_again_is_left_out(self, journal: HandWritten) -> None:
        scored(journal, 0, 1.0)
        journal.trial(1, status=Status.PROVIDER_ERROR)
        journal.trial(2, status=Status.EXECUTION_ERROR)
        table = journal.table(ONE)
        for again, left in ((STATUSES_RETRIED_ON_RESUME, [0, 2]), (FAILED_STATUSES, [0])):
            runs = DocumentedRuns(table, ONE, under_way=True, again=again)
            assert [run.row_index for run in runs] == left


def some_runs(*rows: int) -> list[DocumentedRun]:
    return [DocumentedRun(row, 0, True, {"right": 1.0}, 2.5, 10, None, None) for row in rows]


def test_runs_are_added_to_a_file_as_if_it_had_been_written_with_them(tmp_path: Path) -> None:
    grown, whole = tmp_path / "1_a.json", tmp_path / "2_a.json"
    entry = new_entry({"model": "m"}, "hash", "a", tmp_path)
    write_entry(grown, entry)
    add_runs(grown, entry, some_runs(3, 1))
    add_runs(grown, entry, [])
    add_runs(grown, entry, some_runs(2))
    write_entry(whole, entry, some_runs(3, 1, 2))
    assert json.loads(grown.read_text())["runs"] == json.loads(whole.read_text())["runs"]
    read, head = read_entry(grown), read_entry_head(grown)
    assert read is not None
    assert head is not None
    assert (len(read.runs), read.status, head.config) == (3, "in_progress", {"model": "m"})
    assert grown.stat().st_size == whole.stat().st_size
