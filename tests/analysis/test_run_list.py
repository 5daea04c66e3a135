"""The list of runs: its figures are those of the summary, whatever has happened to a run since they were kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.compare_kit import SECOND, STARTED, Made, made, write_run

from benchwright.analysis.run_figures import FIGURES_FILE, run_figures_of
from benchwright.analysis.run_list import SORT_KEYS, RunFilter, RunRow, list_runs, sort_rows
from benchwright.analysis.summary import summary_of
from benchwright.records import RunEvent, ScoreRecord, Status, Target
from benchwright.reports.run_list import short_ids
from benchwright.runs.journal import BODIES_FILE, TRIALS_FILE, Journal
from benchwright.runs.keys import fingerprint
from benchwright.runs.manifest import DataFile
from benchwright.runs.table import RunTable
from benchwright.runs.tags_and_notes import set_note

LOST = [Made(f"lost-{number}", failed=Status.PROVIDER_ERROR) for number in range(2)]
LOAD = {"load": {"level": {"concurrency": 8}}}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path))
    return tmp_path / "runs"


def only_row() -> RunRow:
    (row,) = list_runs()
    return row


def agrees(row: RunRow, directory: Path) -> bool:
    """Whether a row says what the summary of the run says, which is made of its journal."""
    summary = summary_of(directory)
    told = [
        [(score.scorer, score.n, score.n_scored, score.mean_scored, score.low, score.high) for score in one.scores]
        for one in row.targets
    ]  # fmt: skip
    figures = run_figures_of(summary)
    return told == [
        [(score.scorer, score.n, score.n_scored, score.mean_scored, score.low, score.high) for score in one.scores]
        for one in summary.targets
    ] and (row.state, row.done, row.failed, row.seconds) == (
        figures.state, figures.done, figures.failed, figures.seconds
    )  # fmt: skip


def retried(run: Path) -> None:
    """The trials that failed are made again, and one scores."""
    journal = Journal(run)
    journal.write_lines(RunEvent("started", STARTED + 5 * SECOND, {"total": 10}))
    for trial in LOST:
        key = fingerprint(trial.sample, 0, "primary")
        journal.write_lines(ScoreRecord(f"{key}-s", key, "exact", 1.0, Status.SCORED))
    journal.write_lines(RunEvent("stopped", STARTED + 6 * SECOND, {"reason": "interrupted"}))
    journal.close()


def scored_again(run: Path) -> None:
    """Another value for the first trial."""
    key = fingerprint("0", 0, "primary")
    journal = Journal(run)
    journal.write_lines(ScoreRecord(f"{key}-s", key, "exact", 0.0, Status.SCORED))
    journal.close()


def restored(run: Path) -> None:
    """Another journal of the same size takes the place of this one."""
    journal = run / TRIALS_FILE
    content = journal.read_bytes()
    other = content.replace(b'"value":1.0', b'"value":0.0')
    assert other != content
    journal.write_bytes(other)
    os.utime(journal, ns=(STARTED, STARTED))


def bodies_lost(run: Path) -> None:
    """A crash of the machine took conversations of which the lines are there."""
    os.truncate(run / BODIES_FILE, os.path.getsize(run / BODIES_FILE) // 2)


def emptied(run: Path) -> None:
    """The journal is gone."""
    (run / TRIALS_FILE).unlink()


@pytest.mark.parametrize("change", [retried, scored_again, restored, bodies_lost, emptied])
def test_what_was_kept_never_outlives_a_change_of_the_run(
    store: Path, change: Callable[[Path], None]
) -> None:
    run = write_run(store / "a", [*made([1.0] * 6 + [0.0] * 2), *LOST])
    before = only_row()
    assert agrees(before, run)
    change(run)
    after = only_row()
    assert agrees(after, run)
    assert figures(after) != figures(before)


def figures(row: RunRow) -> tuple[Any, ...]:
    return row.state, row.done, row.failed, row.targets


def test_a_run_that_has_not_changed_is_not_read_again(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(store / "a", [*made([1.0, 0.0]), *LOST])
    first = list_runs()

    def no_reading(*_: object) -> Iterator[None]:
        raise AssertionError("the journal was read")

    monkeypatch.setattr(RunTable, "read_journal", no_reading)
    assert list_runs() == first


@pytest.mark.parametrize("content", [b"", b"{", b'{"made_by":"0 0"}', b"\xff", b"[]"])
def test_what_was_kept_and_cannot_be_read_is_made_again(store: Path, content: bytes) -> None:
    run = write_run(store / "a", made([1.0, 0.0]))
    first = list_runs()
    (run / FIGURES_FILE).write_bytes(content)
    assert list_runs() == first


def test_a_journal_that_cannot_be_read_is_named_and_the_others_listed(store: Path) -> None:
    write_run(store / "good", made([1.0]))
    with (write_run(store / "bad", made([1.0])) / TRIALS_FILE).open("ab") as file:
        file.write(b"no record\n")
    rows = {row.id: row for row in list_runs()}
    assert rows["good"].done == 1
    assert rows["bad"].done is None
    assert "this is not a journal record" in rows["bad"].problem


@pytest.fixture
def several(store: Path) -> Path:
    """A named eval with an agent, a benchmark of two models, a level of load, and a stopped pack with failures."""
    two = [Target("primary", "org/Large", "http://a/v1"), Target("model-2", "small", "http://b/v1")]
    write_run(
        store / "a",
        made([1.0, 0.0]),
        settings={"name": "The Baseline", "module": "my_agent:Agent"},
    )
    write_run(
        store / "b",
        [*made([1.0, 1.0]), *made([0.0, 0.0], slot="model-2")],
        kind="benchmark",
        about={"benchmark": "mmlu", "variant": "5shot"},
        targets=two,
        typed_models={"primary": "org/Large", "model-2": "small"},
        created_at=STARTED + SECOND,
    )
    write_run(store / "c", made([0.0]), about=LOAD, created_at=STARTED + 2 * SECOND)
    write_run(
        store / "d", [*made([1.0, 0.0, 0.0]), *LOST], kind="pack", about={"pack": "toolcall"},
        finished=False, created_at=STARTED + 3 * SECOND, data=[DataFile("toolcall", "0" * 32, 9)],
    )  # fmt: skip
    set_note("a", "Of the paper")
    return store


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (RunFilter(), "dcba"),
        (RunFilter(kind="load"), "c"),
        (RunFilter(kind="eval"), "a"),
        (RunFilter(model="LARGE"), "b"),
        (RunFilter(name="baseline"), "a"),
        (RunFilter(name="mmlu:5"), "b"),
        (RunFilter(name="toolcall"), "d"),
        (RunFilter(words="paper my_agent"), "a"),
        (RunFilter(words="paper small"), ""),
        (RunFilter(state="unfinished"), "d"),
    ],
)
def test_runs_are_found_by_what_they_are(several: Path, wanted: RunFilter, found: str) -> None:
    assert "".join(row.id for row in list_runs(wanted)) == found


@pytest.mark.parametrize(
    ("order", "found"),
    [
        ("newest", "dcba"),
        ("oldest", "abcd"),
        ("score", "badc"),
        ("failed", "dcba"),
        ("name", "bcad"),
        ("state", "cbad"),
        ("no such order", "dcba"),
    ],
)
def test_runs_are_ordered(several: Path, order: str, found: str) -> None:
    assert "".join(row.id for row in sort_rows(list_runs(), order)) == found


def test_every_order_takes_runs_without_figures(several: Path) -> None:
    rows = [
        RunRow(**{**row_fields(row), "targets": [], "failed": None, "seconds": None}) for row in list_runs()
    ]
    for order in SORT_KEYS:
        assert len(sort_rows(rows, order)) == 4


def row_fields(row: RunRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in RunRow.__struct_fields__}


def test_a_name_stands_in_place_of_what_was_run(several: Path) -> None:
    labels = {row.id: (row.name, row.label) for row in list_runs()}
    assert labels["a"] == ("The Baseline", "The Baseline")
    assert labels["b"] == ("questions-model", "mmlu:5shot")
    assert labels["c"] == ("questions-model", "questions c8")


IDS = st.builds(
    "2026112{}T000000-{}-{:08x}".format,
    st.sampled_from("123"),
    st.text("ab", min_size=1, max_size=3),
    st.integers(0, 9),
)


@given(names=st.sets(IDS, max_size=12))
def test_a_short_id_stands_for_one_run(names: set[str]) -> None:
    for name, short in short_ids(sorted(names)).items():
        assert [one for one in names if short in one] == [name]
        assert short == name or len(short) in (8, 15)
