"""The decision of a run's question depends on its answers alone: on no order in which they came, and on no look."""

from __future__ import annotations

import random
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.analysis.deciding.decision import current_decision
from benchwright.analysis.deciding.question_tracker import QuestionTracker
from benchwright.records import ScoreRecord, Status, Target, TaskSpec, TrialRecord
from benchwright.runs.manifest import Manifest, ScorerInfo
from benchwright.runs.question import EarlierScores, Question, QuestionGoal, shuffle_units
from benchwright.runs.table import RunTable
from benchwright.statistic import NoScore
from benchwright.stats.sequential.decision import SequentialTest

SLOTS = ("old", "new")
OFFSETS = count(1)

Answer = float | None
"""The score of a trial; None where it failed."""


def manifest_of(repeats: int = 1, slots: tuple[str, ...] = SLOTS) -> Manifest:
    return Manifest(
        id="run",
        kind="eval",
        name="run",
        fingerprint="0" * 32,
        created_at=0,
        task=TaskSpec("task", "1", "0"),
        targets=[Target(slot, slot, "http://127.0.0.1:9/v1") for slot in slots],
        scorers=[ScorerInfo("exact", "0")],
        repeats=repeats,
    )


def question_about(
    units: list[list[str]],
    *,
    goal: QuestionGoal = "difference",
    margin: float = 0.0,
    finite: bool = False,
    at_least: int = 1,
    earlier: EarlierScores | None = None,
) -> Question:
    return Question(
        goal, margin, 0.05, at_least, finite, ["exact"], 7, units, "" if earlier else "old", earlier
    )


def records_of(sample: str, slot: str, answer: Answer, repeat: int = 0) -> list[TrialRecord | ScoreRecord]:
    key = f"{hash((sample, slot, repeat)) & (2**64 - 1):016x}{'0' * 16}"
    if answer is None:
        return [TrialRecord(key, sample, slot, Status.PROVIDER_ERROR, repeat=repeat, reason="no answer")]
    return [
        TrialRecord(key, sample, slot, Status.ANSWERED, repeat=repeat),
        ScoreRecord(f"score {key}", key, "exact", answer),
    ]


def put(table: RunTable, trial: list[TrialRecord | ScoreRecord]) -> None:
    """Adds the lines of a trial, as if each were a byte long."""
    for record in trial:
        table.add_record(record, next(OFFSETS))


def table_of(directory: Path, trials: list[list[TrialRecord | ScoreRecord]]) -> RunTable:
    table = RunTable(directory, ["exact"])
    for trial in trials:
        put(table, trial)
    return table


one_answer = st.sampled_from([0.0, 0.25, 1.0, 1.0, None])
pairs_of_answers = st.lists(st.tuples(one_answer, one_answer), min_size=1, max_size=40)


@given(pairs_of_answers, st.integers(0, 2**32), st.booleans())
@settings(max_examples=60)
def test_the_order_in_which_trials_end_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, answers: list[tuple[Answer, Answer]], seed: int, finite: bool
) -> None:
    directory = tmp_path_factory.getbasetemp()
    units = shuffle_units({str(number): [str(number)] for number in range(len(answers))}, seed)
    question, manifest = question_about(units, finite=finite, margin=0.05), manifest_of()
    trials = [
        records_of(str(number), slot, answer)
        for number, both in enumerate(answers)
        for slot, answer in zip(SLOTS, both, strict=True)
    ]
    in_turn = QuestionTracker(question, manifest, table_of(directory, trials))
    in_turn.process_complete_units()

    random.Random(seed).shuffle(trials)
    table = RunTable(directory, ["exact"])
    looked_at_always = QuestionTracker(question, manifest, table)
    for trial in trials:
        for record in trial:
            put(table, [record])
            looked_at_always.process_complete_units()
    first, second = current_decision(in_turn), current_decision(looked_at_always)
    assert (first.verdict, first.used, first.difference) == (second.verdict, second.used, second.difference)
    assert (first.low, first.high) == (second.low, second.high)


@given(pairs_of_answers)
@settings(max_examples=60)
def test_it_is_what_the_decider_says_of_the_differences_with_failures_at_their_worst(
    tmp_path_factory: pytest.TempPathFactory, answers: list[tuple[Answer, Answer]]
) -> None:
    units = [[str(number)] for number in range(len(answers))]
    trials = [
        records_of(str(number), slot, answer)
        for number, both in enumerate(answers)
        for slot, answer in zip(SLOTS, both, strict=True)
    ]
    following = QuestionTracker(
        question_about(units), manifest_of(), table_of(tmp_path_factory.getbasetemp(), trials)
    )
    following.process_complete_units()
    decider = SequentialTest(len(answers))
    for old, new in answers:
        least = (0.0 if new is None else new) - (1.0 if old is None else old)
        most = (1.0 if new is None else new) - (0.0 if old is None else old)
        decider.add(least, most)
    decision = current_decision(following)
    expected = decider.decision
    assert decision.used == expected.units
    taken = answers[: decision.used]
    if any(all(both[side] is None for both in taken) for side in (0, 1)):
        assert decision.verdict == "undecided"
        assert isinstance(decision.difference, NoScore)
        assert decision.low == decision.high == decision.difference
        return
    assert decision.verdict == (expected.verdict or "undecided")
    assert (decision.low, decision.high) == expected.interval
    assert decision.difference == pytest.approx(expected.difference)


def test_a_group_counts_when_all_of_it_is_there_and_by_its_size(tmp_path: Path) -> None:
    units = [["a", "b", "c"], ["d"]]
    trials = {
        sample: [records_of(sample, "old", 0.0), records_of(sample, "new", score)]
        for sample, score in (("a", 1.0), ("b", 0.0), ("c", 1.0), ("d", 0.0))
    }
    table = RunTable(tmp_path, ["exact"])
    following = QuestionTracker(question_about(units), manifest_of(), table)
    for sample in ("d", "a", "b"):
        for trial in trials[sample]:
            put(table, trial)
        following.process_complete_units()
    assert following.samples == 0, "one of the first group is missing"
    for trial in trials["c"]:
        put(table, trial)
    following.process_complete_units()
    decision = current_decision(following)
    assert decision.used == 4
    assert decision.groups
    assert decision.difference == pytest.approx(2 / 4)


def test_a_sample_with_repeats_counts_by_their_mean_once_all_are_there(tmp_path: Path) -> None:
    table = RunTable(tmp_path, ["exact"])
    following = QuestionTracker(question_about([["a"]]), manifest_of(repeats=2), table)
    for repeat, score in enumerate((1.0, 0.0)):
        assert not following.process_complete_units()
        for slot, answer in (("old", 0.0), ("new", score)):
            put(table, records_of("a", slot, answer, repeat))
    assert following.process_complete_units()
    assert current_decision(following).difference == 0.5


def test_what_is_to_be_asked_again_is_not_complete_before_it_was(tmp_path: Path) -> None:
    trials = [records_of("a", "old", 1.0), records_of("a", "new", None)]
    table = table_of(tmp_path, trials)
    following = QuestionTracker(question_about([["a"]]), manifest_of(), table, again=[1])
    assert not following.process_complete_units()
    following.add_retry(1)
    assert following.process_complete_units()


def test_earlier_answers_stand_for_the_old_model(tmp_path: Path) -> None:
    earlier = EarlierScores("before", "old", scores={"exact": {"a": (0.0, 0.0), "b": (0.0, 1.0)}})
    table = table_of(tmp_path, [records_of("a", "new", 1.0), records_of("b", "new", 1.0)])
    following = QuestionTracker(
        question_about([["a"], ["b"]], earlier=earlier), manifest_of(slots=("new",)), table
    )
    following.process_complete_units()
    decision = current_decision(following)
    (one,) = decision.models
    assert (one.model, one.than) == ("new", "old")
    assert decision.difference == pytest.approx((1.0 + 0.5) / 2), "halfway where the old answer failed"


def test_at_least_so_many_samples_whatever_the_units(tmp_path: Path) -> None:
    units = [[f"{number} {part}" for part in range(2)] for number in range(60)]
    trials = [
        records_of(sample, slot, float(slot == "new")) for unit in units for sample in unit for slot in SLOTS
    ]
    following = QuestionTracker(question_about(units, at_least=51), manifest_of(), table_of(tmp_path, trials))
    following.process_complete_units()
    assert current_decision(following).used == 52


def test_the_order_of_the_samples_is_that_of_the_seed_alone() -> None:
    names = {str(number): [str(number)] for number in range(50)}
    turned = dict(reversed(names.items()))
    assert shuffle_units(names, 1) == shuffle_units(turned, 1) != shuffle_units(names, 2)
