"""Results that are delivered together are journalled together, each before its worker goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.engine.engine_kit import TARGET, FunctionScorer, always, answer, journalled, plan_of, run_plan

from benchwright.engine.group_commits import MAX_GROUP_BYTES, GroupCommitter
from benchwright.engine.protocols import Score, Session
from benchwright.engine.worker import ScoredWork, SolvedWork, WorkResult
from benchwright.errors import JournalError
from benchwright.records import Outcome, Sample, ScoreRecord, Status, Trial, TrialRecord
from benchwright.runs.journal import TRIALS_FILE, Journal, TrialBody, encode_json, read_body


def solved(key: str, answer: str = "") -> SolvedWork:
    """A trial of this key that was answered so."""
    return SolvedWork(
        TrialRecord(key, key, "primary", Status.ANSWERED), encode_json(TrialBody(key=key, answer=answer))
    )


def scored(key: str) -> ScoredWork:
    """The score of the trial of this key."""
    trial = Trial(key, Sample(key, key), TARGET)
    return ScoredWork(trial, Status.ANSWERED, (ScoreRecord(f"{key}-s", key, "exact", 1.0),))


class WatchedJournal(Journal):
    """Counts its writes; while `broken`, each fails."""

    writes = 0
    broken = False

    def write_trials_and_scores(self, *args: object, **kwargs: object) -> None:
        if self.broken:
            raise JournalError("The disk is gone.")
        self.writes += 1
        super().write_trials_and_scores(*args, **kwargs)  # type: ignore[arg-type]


@pytest.fixture
def journal(tmp_path: Path) -> WatchedJournal:
    return WatchedJournal(tmp_path)


async def test_what_comes_in_one_turn_of_the_loop_is_one_write(
    journal: WatchedJournal, tmp_path: Path
) -> None:
    told: list[WorkResult] = []
    results: list[WorkResult] = [solved("a", "one"), scored("b"), solved("c", "three")]
    with GroupCommitter(journal, told.append) as commits:
        await asyncio.gather(*[commits.deliver(result) for result in results])
        assert (journal.writes, told) == (1, results)
    lines = journalled(tmp_path)
    assert [(line.key, read_body(tmp_path, line).answer) for line in lines.trials] == [
        ("a", "one"),
        ("c", "three"),
    ]
    assert lines.score.key == "b-s"


async def test_nobody_is_told_of_a_result_before_it_is_in_the_journal(
    journal: WatchedJournal, tmp_path: Path
) -> None:
    lines_when_told: list[int] = []

    def committed(result: WorkResult) -> None:
        lines_when_told.append((tmp_path / TRIALS_FILE).read_bytes().count(b"\n"))

    with GroupCommitter(journal, committed) as commits:
        waiting = [commits.deliver(solved(key)) for key in "ab"]
        assert (lines_when_told, [each.done() for each in waiting]) == ([], [False, False])
        await asyncio.gather(*waiting)
    assert lines_when_told == [2, 2]


async def test_a_trial_is_in_the_journal_before_it_is_scored(tmp_path: Path) -> None:
    def found(sample: Sample, outcome: Outcome) -> Score:
        return Score(float(any(line.sample == sample.id for line in journalled(tmp_path).trials)))

    await run_plan(plan_of(20, answer, [FunctionScorer(found)]), tmp_path, concurrency=8)
    assert [score.value for score in journalled(tmp_path).scores] == [1.0] * 20


async def test_a_result_is_kept_though_its_worker_is_cancelled(
    journal: WatchedJournal, tmp_path: Path
) -> None:
    with GroupCommitter(journal, lambda result: None) as commits:
        waiting = [commits.deliver(solved(key)) for key in "ab"]
        waiting[0].cancel()
        await waiting[1]
    assert [line.key for line in journalled(tmp_path).trials] == ["a", "b"]


async def test_what_nobody_waits_for_is_written_at_the_end(journal: WatchedJournal, tmp_path: Path) -> None:
    with GroupCommitter(journal, lambda result: None) as commits:
        commits.deliver(solved("a"))
    assert journalled(tmp_path).trial.key == "a"


async def test_much_is_written_at_once(journal: WatchedJournal) -> None:
    with GroupCommitter(journal, lambda result: None) as commits:
        for key in "abc":
            commits.deliver(solved(key, "x" * (MAX_GROUP_BYTES // 2)))
        assert journal.writes == 1


async def test_a_journal_that_fails_is_told_to_all_who_wait_and_to_all_who_come_later(
    journal: WatchedJournal,
) -> None:
    journal.broken = True
    commits = GroupCommitter(journal, lambda result: None)
    waiting = [commits.deliver(solved(key)) for key in "ab"]
    told = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(each) for each in told] == [JournalError] * 2
    with pytest.raises(JournalError):
        commits.deliver(solved("c"))


async def test_a_failure_that_nobody_waited_for_is_raised_at_the_end(journal: WatchedJournal) -> None:
    async def deliver_and_go() -> None:
        with GroupCommitter(journal, lambda result: None) as commits:
            commits.deliver(solved("a"))
            await asyncio.sleep(0)

    journal.broken = True
    with pytest.raises(JournalError):
        await deliver_and_go()


async def test_a_cancelled_run_journals_what_was_under_way(tmp_path: Path) -> None:
    async def endless(trial: Trial, session: Session) -> Outcome:
        await asyncio.sleep(60)
        return Outcome()

    running = asyncio.ensure_future(run_plan(plan_of(8, endless), tmp_path, concurrency=4))
    await asyncio.sleep(0.1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [trial.status for trial in journalled(tmp_path).trials] == [Status.CANCELLED] * 4


@pytest.mark.parametrize(("scorers", "writes"), [((), 3), ((always(1.0),), 6)])
async def test_a_trial_that_nothing_scores_is_one_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scorers: tuple[FunctionScorer, ...], writes: int
) -> None:
    groups = list[int]()
    written = Journal.write_trials_and_scores

    def counted(journal: Journal, trials: Any, scores: Any = ()) -> None:
        groups.append(len(trials) + len(scores))
        written(journal, trials, scores)

    monkeypatch.setattr(Journal, "write_trials_and_scores", counted)
    await run_plan(plan_of(3, answer, scorers), tmp_path, concurrency=1)
    assert groups[:-1] == [1] * writes  # the last, of nothing, is the end of the run
    assert len(journalled(tmp_path).trials) == 3
