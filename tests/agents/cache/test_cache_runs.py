"""The documented runs of journals that were written by hand."""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agents.cache.cache_kit import HandWritten, manifest, request

from benchwright.agents.cache.runs import DocumentedRun, DocumentedRuns
from benchwright.agents.cache.samples import sample_lines
from benchwright.errors import JournalError
from benchwright.records import Status

ONE = manifest("m")
TWO = manifest("m", "b", repeats=2)


def test_a_run_has_what_the_documents_name(journal: HandWritten) -> None:
    requests = [request(7, 3), request(12, 4), request(100, 100, role="judge"), request(0, 0)]
    journal.trial(4, duration=12_345_678, requests=requests)
    journal.score(4, 0.75)
    journal.score(4, 1.0, scorer="short")
    (run,) = journal.runs(ONE)
    assert run == DocumentedRun(
        row_index=4,
        run_index=0,
        success=True,
        scores={"right": 0.75, "short": 1.0},
        duration_ms=12.346,
        tokens=26,
        model_tag=None,
        error=None,
    )


def test_what_failed_has_no_scores_and_a_reason(journal: HandWritten) -> None:
    journal.trial(0, status=Status.EXECUTION_ERROR, reason="ValueError: no", requests=[request(5, 0)])
    journal.trial(1, status=Status.PROVIDER_ERROR)
    first, second = journal.runs(ONE)
    assert (first.success, first.scores, first.error, first.tokens) == (False, {}, "ValueError: no", 5)
    assert second.error == "provider_error"


def test_what_was_refused_cut_off_or_limited_was_run(journal: HandWritten) -> None:
    statuses = (Status.REFUSED, Status.TRUNCATED, Status.LIMIT, Status.UNPARSED)
    for row, status in enumerate(statuses):
        journal.trial(row, status=status, reason="why")
    runs = list(journal.runs(ONE))
    assert [(run.success, run.error) for run in runs] == 4 * [(True, None)]
    assert all(run.scores == {"right": 0.0, "short": 0.0} for run in runs)


def test_a_scorer_that_failed_gives_0_and_one_that_is_gone_nothing(journal: HandWritten) -> None:
    journal.trial(0)
    journal.score(0, None)
    journal.score(0, 1.0, scorer="of another run")
    (run,) = journal.runs(ONE)
    assert run.scores == {"right": 0.0, "short": 0.0}


def test_of_several_attempts_the_last_counts(journal: HandWritten) -> None:
    journal.trial(1)
    journal.trial(0, status=Status.PROVIDER_ERROR)
    journal.trial(0, status=Status.PROVIDER_ERROR, attempt=1)
    journal.trial(0, status=Status.CANCELLED, attempt=2)
    journal.trial(0, attempt=2)
    journal.score(0, 1.0)
    runs = journal.runs(ONE)
    assert len(runs) == 2
    assert [(run.row_index, run.success) for run in runs] == [(0, True), (1, True)]
    assert [record.attempt for record in runs.records()] == [2, 0]


def test_what_was_cut_off_is_no_run(journal: HandWritten) -> None:
    journal.trial(0, status=Status.CANCELLED)
    runs = journal.runs(ONE)
    assert (len(runs), list(runs)) == (0, [])


def test_of_two_models_each_has_its_own_scores(journal: HandWritten) -> None:
    for target, value in (("baseline", 0.25), ("primary", 1.0)):
        for repeat in (1, 0):
            journal.trial(0, repeat, target=target)
            journal.score(0, value, repeat, target=target)
    assert [(run.model_tag, run.run_index, run.scores["right"]) for run in journal.runs(TWO)] == [
        ("primary", 0, 1.0),
        ("primary", 1, 1.0),
        ("baseline", 0, 0.25),
        ("baseline", 1, 0.25),
    ]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 30) | st.integers(0, 10**15),
            st.sampled_from(["baseline", "primary"]),
            st.integers(0, 9),
        ),
        unique=True,
    )
)
def test_they_come_by_row_model_and_run_however_they_ended(trials: list[tuple[int, str, int]]) -> None:
    with TemporaryDirectory() as directory:
        journal = HandWritten(Path(directory))
        for row, target, repeat in trials:
            journal.trial(row, repeat, target=target)
        runs = journal.runs(msgspec.structs.replace(TWO, repeats=10))
        found = [(run.row_index, run.model_tag, run.run_index) for run in runs]
    by_slot = sorted((row, target == "baseline", repeat) for row, target, repeat in trials)
    assert found == [(row, ("primary", "baseline")[slot], repeat) for row, slot, repeat in by_slot]


@pytest.mark.parametrize(
    ("strange", "message"),
    [
        ({"repeat": 7}, "sample 5 of primary, repeat 8 of 1: its run.json is another run's"),
        ({"target": "another"}, "sample 5 of another"),
    ],
)
def test_what_the_run_does_not_have_is_an_error(
    journal: HandWritten, strange: dict[str, Any], message: str
) -> None:
    journal.trial(0)
    journal.trial(5, **strange)
    with pytest.raises(JournalError, match=message):
        journal.runs(ONE)


def test_figures_count_what_failed_as_0_and_never_as_a_pass(journal: HandWritten) -> None:
    """Of four runs of two rows one is right, one is wrong, one has no answer, and one failed."""
    journal.trial(0, 0)
    journal.score(0, 1.0, 0)
    journal.trial(0, 1)
    journal.score(0, 0.0, 1)
    journal.trial(1, 0, status=Status.REFUSED)
    journal.trial(1, 1, status=Status.PROVIDER_ERROR)
    journal.trial(2, 0, status=Status.CANCELLED)
    runs = journal.runs(manifest("m", repeats=2))
    (target,) = runs.manifest.targets
    assert runs.row_count() == 2
    figures = runs.statistics(target)["right"]
    assert figures[:4] == pytest.approx((0.25, sqrt(3) / 4, 0.0, 1.0))
    assert figures.pass_at == {1: 0.25}
    every = msgspec.structs.replace(runs.manifest, pass_threshold=0.0)
    assert DocumentedRuns(runs.table, every).statistics(target)["right"].pass_at == {1: 0.75}


def test_samples_hold_the_conversation_of_every_run_that_has_one(
    journal: HandWritten, tmp_path: Path
) -> None:
    def said(text: str) -> list[dict[str, str]]:
        return [{"role": "assistant", "content": text}]

    journal.trial(1, target="baseline", messages=said("b"))
    journal.trial(0, 1, messages=said("second"))
    journal.trial(0, 0, messages=said("cut short"), status=Status.EXECUTION_ERROR)
    journal.trial(0, 0, messages=said("first"), attempt=1)
    journal.trial(2, status=Status.EXECUTION_ERROR)
    runs = journal.runs(TWO)
    samples = [json.loads(line) for line in sample_lines(runs, tmp_path / "none.jsonl")]
    assert samples == [
        {"row_index": 0, "run_index": 0, "model_tag": "primary", "messages": said("first")},
        {"row_index": 0, "run_index": 1, "model_tag": "primary", "messages": said("second")},
        {"row_index": 1, "run_index": 0, "model_tag": "baseline", "messages": said("b")},
    ]
