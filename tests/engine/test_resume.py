"""Going on: what a journal holds is not asked again, what failed for the endpoint's sake is."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.engine_kit import (
    Asked,
    FunctionScorer,
    always,
    answer,
    journalled,
    plan_of,
    run_plan,
    samples,
    table_in,
)

from benchwright.engine.executor import LocalExecutor
from benchwright.engine.progress import LiveProgress
from benchwright.engine.protocols import Score, Session
from benchwright.engine.run import run
from benchwright.engine.stop_rules import SystemicErrorRule, TokenBudget
from benchwright.engine.trial_reuse import EarlierRun, Reuse
from benchwright.errors import ExecutionError, LimitReached
from benchwright.records import Outcome, RunEvent, Sample, Status, Trial, TrialLimits, TrialRecord
from benchwright.runs.journal import TRIALS_FILE, Journal, TrialBody, encode_json


async def test_a_finished_run_asks_nothing_more(tmp_path: Path) -> None:
    await run_plan(plan_of(20, answer, [always(1.0)]), tmp_path)
    asked = Asked()
    assert (await run_plan(plan_of(20, asked, [always(1.0)]), tmp_path)).is_finished
    assert asked.samples == []
    assert len(journalled(tmp_path).trials) == 20


async def test_an_unfinished_run_asks_for_the_rest_only(tmp_path: Path) -> None:
    await run_plan(plan_of(samples(20)[:7]), tmp_path)
    asked = Asked()
    await run_plan(plan_of(20, asked), tmp_path)
    assert asked.samples == [str(number) for number in range(7, 20)]


async def test_what_is_finished_is_passed_by_without_holding_up_the_event_loop(tmp_path: Path) -> None:
    class Rows(list[Sample]):
        read_by: set[int] = set()

        def __iter__(self) -> Iterator[Sample]:
            for sample in super().__iter__():
                if sample.content < 7:
                    self.read_by.add(threading.get_ident())
                yield sample

    await run_plan(plan_of(samples(20)[:7]), tmp_path)
    rows = Rows(samples(20))
    assert (await run_plan(plan_of(rows), tmp_path)).is_finished
    assert rows.read_by
    assert threading.get_ident() not in rows.read_by


async def test_a_larger_limit_and_more_repeats_keep_what_is_done(tmp_path: Path) -> None:
    await run_plan(plan_of(10, repeats=3), tmp_path)
    asked = Asked()
    await run_plan(plan_of(12, asked, repeats=5), tmp_path)
    assert len(asked.samples) == 12 * 5 - 10 * 3


@pytest.mark.parametrize("changed", [{"fingerprint": "solver 2"}, {"limits": TrialLimits(turns=1)}])
async def test_another_solver_or_other_limits_ask_anew(tmp_path: Path, changed: dict[str, Any]) -> None:
    await run_plan(plan_of(5), tmp_path)
    asked = Asked()
    await run_plan(plan_of(5, asked, **changed), tmp_path)
    assert len(asked.samples) == 5


async def test_provider_errors_are_asked_again_and_every_attempt_is_kept(tmp_path: Path) -> None:
    def odd(trial: Trial) -> bool:
        return int(trial.sample.id) % 2 == 1

    for _ in range(2):
        await run_plan(plan_of(4, Asked(odd)), tmp_path)
    asked = Asked()
    await run_plan(plan_of(4, asked), tmp_path)
    assert asked.samples == ["1", "3"]
    of_sample_1 = [trial for trial in journalled(tmp_path).trials if trial.sample == "1"]
    assert [(trial.attempt, trial.status) for trial in of_sample_1] == [
        (0, Status.PROVIDER_ERROR),
        (1, Status.PROVIDER_ERROR),
        (2, Status.ANSWERED),
    ]


async def test_what_was_cancelled_is_asked_again(tmp_path: Path) -> None:
    begun = asyncio.Semaphore(0)

    async def stuck(trial: Trial, session: Session) -> Outcome:
        begun.release()
        await asyncio.sleep(60)
        raise AssertionError("nobody waits that long")

    running = asyncio.create_task(run_plan(plan_of(3, stuck), tmp_path))
    for _ in range(3):
        await begun.acquire()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert {trial.status for trial in journalled(tmp_path).trials} == {Status.CANCELLED}
    asked = Asked()
    await run_plan(plan_of(3, asked), tmp_path)
    assert sorted(asked.samples) == ["0", "1", "2"]


@pytest.mark.parametrize("error", [ExecutionError("the agent is broken"), LimitReached("turns", 3)])
async def test_an_agents_own_failure_and_a_limit_are_results(tmp_path: Path, error: Exception) -> None:
    async def fails(trial: Trial, session: Session) -> Outcome:
        raise error

    await run_plan(plan_of(3, fails), tmp_path)
    asked = Asked()
    await run_plan(plan_of(3, asked), tmp_path)
    assert asked.samples == []


def cut_after_the_first(kind: bytes, directory: Path) -> None:
    """As a kill leaves the journal right after the first line of a kind was written."""
    lines = (directory / TRIALS_FILE).read_bytes().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith(b'{"type":"' + kind))
    os.truncate(directory / TRIALS_FILE, sum(len(line) for line in lines[: first + 1]))


async def test_a_kill_between_outcome_and_score_costs_no_conversation(tmp_path: Path) -> None:
    heard: list[Outcome] = []

    def by_length(sample: Sample, outcome: Outcome) -> Score:
        heard.append(outcome)
        return Score(float(len(outcome.answer)))

    async def talkative(trial: Trial, session: Session) -> Outcome:
        return Outcome(
            messages=[{"role": "user", "content": "Well?"}],
            answer="at length",
            scores={"own": 0.5},
            artifacts={"file": [1, 2]},
            native={"score": {"total": 1}},
        )

    await run_plan(plan_of(1, talkative, [FunctionScorer(by_length)]), tmp_path)
    cut_after_the_first(b"trial", tmp_path)
    assert journalled(tmp_path).scores == []

    asked = Asked()
    assert (await run_plan(plan_of(1, asked, [FunctionScorer(by_length)]), tmp_path)).is_finished
    assert asked.samples == []
    assert journalled(tmp_path).score.value == 9
    live, read_back = heard
    assert read_back == live


async def test_a_kill_between_body_and_line_asks_once_more(tmp_path: Path) -> None:
    await run_plan(plan_of(1), tmp_path)
    cut_after_the_first(b"event", tmp_path)
    asked = Asked()
    await run_plan(plan_of(1, asked), tmp_path)
    assert asked.samples == ["0"]


async def test_an_added_scorer_scores_what_was_answered_earlier(tmp_path: Path) -> None:
    await run_plan(plan_of(5, answer, [always(1.0, "first")]), tmp_path)
    asked = Asked()
    await run_plan(plan_of(5, asked, [always(1.0, "first"), always(0.5, "second")]), tmp_path)
    assert asked.samples == []
    assert [score.scorer for score in journalled(tmp_path).scores] == ["first"] * 5 + ["second"] * 5


async def test_trials_without_an_answer_are_not_scored_later_either(tmp_path: Path) -> None:
    async def fails(trial: Trial, session: Session) -> Outcome:
        raise ValueError("no")

    await run_plan(plan_of(2, fails), tmp_path)
    await run_plan(plan_of(2, fails, [always(1.0)]), tmp_path)
    assert journalled(tmp_path).scores == []


async def test_equal_rows_are_asked_and_found_again_one_by_one(tmp_path: Path) -> None:
    rows = [Sample(str(number), "the same") for number in range(6)]
    await run_plan(plan_of(rows[:2]), tmp_path)
    asked = Asked()
    await run_plan(plan_of(rows, asked), tmp_path)
    assert asked.samples == ["2", "3", "4", "5"]


async def test_a_trial_whose_body_was_lost_is_told_and_asked_again(tmp_path: Path) -> None:
    await run_plan(plan_of(2), tmp_path)
    (tmp_path / "bodies.jsonl").unlink()
    asked, watching = Asked(), LiveProgress()
    await run_plan(plan_of(2, asked, [always(1.0)]), tmp_path, listeners=[watching])
    assert asked.samples == ["0", "1"]
    assert any("2 conversations lost on the disk" in note for note in watching.notes)
    assert [score.value for score in journalled(tmp_path).scores] == [1.0, 1.0]


async def test_a_body_that_is_no_longer_its_own_is_asked_again_and_not_scored(tmp_path: Path) -> None:
    await run_plan(plan_of(1), tmp_path)
    bodies = tmp_path / "bodies.jsonl"
    bodies.write_bytes(b"\0" * bodies.stat().st_size)
    asked = Asked()
    await run_plan(plan_of(1, asked, [always(1.0)]), tmp_path)
    assert asked.samples == ["0"]


async def test_each_session_notes_its_start_and_its_end(tmp_path: Path) -> None:
    await run_plan(plan_of(4), tmp_path, rules=[TokenBudget(0)], concurrency=1)
    await run_plan(plan_of(4), tmp_path, rules=[SystemicErrorRule()])

    def told(event: RunEvent) -> tuple[object, ...]:
        return event.name, event.detail.get("total"), event.detail.get("finished"), event.detail.get("reason")

    assert [told(event) for event in journalled(tmp_path).events] == [
        ("started", 4, 0, None),
        ("stopped", None, None, "the budget of 0 tokens is used up (0 used)"),
        ("started", 4, 1, None),
        ("finished", None, None, None),
    ]


async def test_what_is_taken_over_stands_for_a_trial_that_was_cut_off_before(tmp_path: Path) -> None:
    other, here = tmp_path / "other", tmp_path / "here"
    await run_plan(plan_of(1), other)
    taken = journalled(other).trial
    cut_off = TrialRecord(taken.key, taken.sample, taken.target, Status.CANCELLED, started_at=1)
    journal = Journal(here)
    journal.write_trial(cut_off, encode_json(TrialBody(taken.key)))
    await run(plan_of(1), LocalExecutor({}, 1), journal, reuse=Reuse([EarlierRun(other)]))
    journal.close()
    table = table_in(here)
    assert (len(table), table.counted_rows().tolist()) == (1, [0])
    assert table.read_trial(0).record.reused_from == "other"


async def test_what_another_run_has_lost_is_asked_and_not_taken_over(tmp_path: Path) -> None:
    other, here = tmp_path / "other", tmp_path / "here"
    await run_plan(plan_of(2), other)
    kept = journalled(other).trials[0].body[1]
    bodies = other / "bodies.jsonl"
    bodies.write_bytes(bodies.read_bytes()[:kept] + b"\0" * (bodies.stat().st_size - kept))
    asked, journal = Asked(), Journal(here)
    result = await run(plan_of(2, asked), LocalExecutor({}, 1), journal, reuse=Reuse([EarlierRun(other)]))
    journal.close()
    assert result.is_finished
    assert len(asked.samples) == 1
    assert sorted(trial.reused_from or "asked" for trial in journalled(here).trials) == ["asked", "other"]
