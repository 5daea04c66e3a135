"""Keys: what makes two trials the same, so that finished work is found again and never asked twice."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.engine.engine_kit import TARGET, FunctionTask, samples

from benchwright.engine.plan import Plan
from benchwright.records import Sample, TrialLimits
from benchwright.runs.keys import score_key

A_SAMPLE = Sample("7", {"question": "2 + 2?", "answer": "4"})


def keys(
    *rows: Sample,
    target: dict[str, Any] | None = None,
    solver: str = "solver 1",
    limits: TrialLimits | None = None,
    repeats: int = 1,
) -> list[str]:
    """The keys of a plan's trials, in order."""
    task = FunctionTask(rows, fingerprint=solver)
    targets = [replace(TARGET, **(target or {}))]
    plan = Plan(task, len(rows), targets, repeats=repeats, limits=limits or TrialLimits())
    return [trial.key for trial in plan.trials()]


@pytest.mark.parametrize(
    "same",
    [
        {"target": {"slot": "baseline"}},
        {"rows": [replace(A_SAMPLE, id="8")]},
        {"rows": [replace(A_SAMPLE, group="arithmetic", labels={"level": "1"})]},
        {"rows": [Sample("7", {"answer": "4", "question": "2 + 2?"})]},
        {"target": {"settings": {}}},
    ],
    ids=["another slot", "another id", "another group", "columns in another order", "no settings, said"],
)
def test_what_does_not_change_a_trial(same: dict[str, Any]) -> None:
    rows = same.pop("rows", [A_SAMPLE])
    assert keys(*rows, **same) == keys(A_SAMPLE)


@pytest.mark.parametrize(
    "changed",
    [
        {"rows": [Sample("7", {"question": "2 + 3?", "answer": "4"})]},
        {"rows": [replace(A_SAMPLE, occurrence=1)]},
        {"target": {"model": "another"}},
        {"target": {"base_url": "http://127.0.0.1:10/v1"}},
        {"target": {"settings": {"temperature": 0.5}}},
        {"solver": "solver 2"},
        {"limits": TrialLimits(turns=3)},
        {"limits": TrialLimits(tokens=3)},
        {"limits": TrialLimits(seconds=3)},
    ],
    ids=[
        "content",
        "occurrence",
        "model",
        "url",
        "settings",
        "solver",
        "turn limit",
        "token limit",
        "time limit",
    ],
)
def test_what_makes_another_trial(changed: dict[str, Any]) -> None:
    rows = changed.pop("rows", [A_SAMPLE])
    assert keys(*rows, **changed) != keys(A_SAMPLE)


def test_each_repeat_is_a_trial_of_its_own() -> None:
    assert len(set(keys(A_SAMPLE, repeats=5))) == 5


def test_where_a_sample_stands_does_not_matter() -> None:
    first, second = samples(2)
    assert set(keys(first, second)) == set(keys(second, first))


def test_equal_rows_are_told_apart_by_how_often_they_came_before() -> None:
    row = {"question": "2 + 2?"}
    task = FunctionTask([Sample(str(number), row) for number in range(4)])
    trials = list(Plan(task, 4, [TARGET]).trials())
    assert [trial.sample.occurrence for trial in trials] == [0, 1, 2, 3]
    assert len({trial.key for trial in trials}) == 4


def test_a_larger_limit_keeps_the_trials_of_the_smaller_one() -> None:
    assert keys(*samples(20))[:10] == keys(*samples(10))


def test_more_repeats_keep_the_trials_of_fewer() -> None:
    three, five = keys(*samples(10), repeats=3), keys(*samples(10), repeats=5)
    assert set(three) < set(five)
    assert len(set(five)) == 50


def test_a_model_at_two_addresses_is_two_targets() -> None:
    elsewhere = replace(TARGET, slot="baseline", base_url="http://127.0.0.1:10/v1")
    trials = list(Plan(FunctionTask(samples(3)), 3, [TARGET, elsewhere]).trials())
    assert [trial.target.slot for trial in trials] == ["primary", "baseline"] * 3
    assert len({trial.key for trial in trials}) == 6


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(
    contents=st.lists(JSON, max_size=20),
    models=st.lists(st.text(min_size=1), min_size=1, max_size=3, unique=True),
    repeats=st.integers(1, 3),
)
@settings(max_examples=50, deadline=None)
def test_no_two_trials_of_a_plan_have_the_same_key(
    contents: list[Any], models: list[str], repeats: int
) -> None:
    rows = [Sample(str(number), content) for number, content in enumerate(contents)]
    targets = [replace(TARGET, model=model) for model in models]
    plan = Plan(FunctionTask(rows), len(rows), targets, repeats=repeats)
    found = [trial.key for trial in plan.trials()]
    assert len(found) == plan.trial_count
    assert len(set(found)) == len(found)


def test_occurrences_are_counted_right_however_many_samples_there_are() -> None:
    """The table behind it grows several times on the way."""
    contents = random.Random(7).choices(range(6_000), k=10_000)
    seen: Counter[int] = Counter()
    for trial in Plan(FunctionTask([Sample("", content) for content in contents]), 10_000, [TARGET]).trials():
        content = trial.sample.content
        assert trial.sample.occurrence == seen[content]
        seen[content] += 1


def test_a_score_belongs_to_one_trial_one_scorer_and_one_rule() -> None:
    different = {
        score_key("trial 1", "exact", "v1"),
        score_key("trial 2", "exact", "v1"),
        score_key("trial 1", "regex", "v1"),
        score_key("trial 1", "exact", "v2"),
        score_key("trial 1", "exactv", "1"),
    }
    assert len(different) == 5
