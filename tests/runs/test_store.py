"""The store: runs are found by id, by a part of it, or by path, and nothing is ever found by mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.analysis.run_list import list_runs
from benchwright.errors import UserError
from benchwright.records import RunEvent, TaskSpec
from benchwright.runs import store
from benchwright.runs.journal import Journal
from benchwright.runs.manifest import Manifest, write_manifest

NOON = 1_767_268_800_000_000_000
"""2026-01-01, 12:00 UTC, in nanoseconds."""
SECOND = 1_000_000_000


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def make_run(name: str, fingerprint: str = "0123456789abcdef", at: int = NOON) -> Path:
    directory = store.new_run_directory(name, fingerprint, at)
    write_manifest(
        directory,
        Manifest(
            id=directory.name,
            kind="eval",
            name=name,
            fingerprint=fingerprint,
            created_at=at,
            task=TaskSpec(name, "1", "f"),
            targets=[],
        ),
    )
    return directory


def test_an_id_says_when_what_and_which(home: Path) -> None:
    assert make_run("GSM8K (small) – Qwen/3") == home / "runs" / "20260101T120000-gsm8k-small-qwen-3-01234567"


def test_a_name_without_a_letter_has_an_id_too() -> None:
    assert make_run("数学").name == "20260101T120000-run-01234567"


def test_a_long_name_is_cut() -> None:
    assert len(make_run("x" * 300).name) < 80


def test_two_runs_of_the_same_second_have_different_ids() -> None:
    first, second, third = make_run("a"), make_run("a"), make_run("a")
    assert (second.name, third.name) == (f"{first.name}-2", f"{first.name}-3")


@pytest.mark.parametrize(
    "reference",
    ["20260101T120000-maths-m-01234567", "20260101T120000-m", "maths", "m-0123"],
    ids=["id", "beginning", "part", "another part"],
)
def test_a_run_is_found_by_its_id_or_by_what_tells_it_from_others(reference: str) -> None:
    run = make_run("maths-m")
    make_run("physics-m", "fedcba9876543210", NOON + SECOND)
    assert store.find_run(reference) == run


def test_a_run_is_found_by_its_directory_wherever_that_is(tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    make_run("maths").rename(moved)
    assert store.find_run(str(moved)) == moved
    assert store.find_run("elsewhere") == Path("elsewhere")


def test_a_whole_id_is_meant_even_where_another_begins_with_it() -> None:
    first = make_run("a")
    make_run("a")
    assert store.find_run(first.name) == first


def test_what_fits_several_runs_is_asked_for_more_and_told_the_newest() -> None:
    names = [make_run("maths", at=NOON + day * 86_400 * SECOND).name for day in range(5)]
    with pytest.raises(UserError) as error:
        store.find_run("maths")
    assert str(error.value) == (
        f"Several runs match 'maths' (5), the newest: {', '.join(names[2:])}. Give a longer part of the id."
    )


def test_what_fits_none_is_told_where_runs_are(home: Path) -> None:
    make_run("maths")
    with pytest.raises(UserError, match=rf"There is no run 'xyz' in {home}/runs\."):
        store.find_run("xyz")


def test_a_slip_of_the_pen_is_told_what_may_have_been_meant() -> None:
    run = make_run("maths")
    with pytest.raises(UserError, match=f"Did you mean '{run.name}'"):
        store.find_run(run.name.replace("maths", "mahts"))


def test_without_any_runs_there_is_none_to_find() -> None:
    with pytest.raises(UserError, match="There is no run 'maths'"):
        store.find_run("maths")


def test_a_directory_that_is_no_run_is_not_found(home: Path) -> None:
    make_run("maths")
    (home / "runs" / "notes-on-maths").mkdir()
    assert store.find_run("maths").name.endswith("-01234567")


@pytest.mark.parametrize(
    ("events", "last", "state"),
    [
        ([], None, "unfinished"),
        (["started"], "started", "unfinished"),
        (["started", "stopped"], "stopped", "stopped"),
        (["started", "stopped", "started"], "started", "unfinished"),
        (["started", "stopped", "started", "finished"], "finished", "finished"),
    ],
)
def test_how_far_a_run_is_stands_at_the_end_of_its_journal(
    events: list[str], last: str | None, state: str
) -> None:
    run = make_run("maths")
    journal = Journal(run)
    for event in events:
        journal.write_lines(RunEvent(event, NOON, {"reason": 'a reason\n{"type":"event","name":"fake"'}))
    journal.close()
    assert store.last_event_name(run) == last
    assert [listed.state for listed in list_runs()] == [state]


def test_an_end_far_back_is_found_only_if_nothing_was_written_since() -> None:
    run = make_run("maths")
    journal = Journal(run)
    journal.write_lines(RunEvent("finished", NOON))
    journal.write_lines(*[RunEvent("started", NOON)] * 5000)
    journal.close()
    assert store.last_event_name(run) == "started"


def test_runs_are_listed_the_newest_first_and_broken_ones_left_out(home: Path) -> None:
    older, newer = make_run("b"), make_run("a", at=NOON + SECOND)
    broken = home / "runs" / "broken"
    broken.mkdir()
    (broken / "run.json").write_text("{")
    assert [run.id for run in list_runs()] == [newer.name, older.name]


def test_a_run_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    from benchwright.runs.manifest import read_manifest

    (tmp_path / "run.json").write_text('{"id": 7}')
    with pytest.raises(UserError, match=r"run\.json cannot be read: Expected `str`"):
        read_manifest(tmp_path)
