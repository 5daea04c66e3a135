"""The journal: two files that only grow, and of which a torn end costs nothing."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.journals import read_lines

from benchwright.errors import JournalError
from benchwright.records import JournalLine, RunEvent, ScoreRecord, Status, TrialRecord
from benchwright.runs.journal import BODIES_FILE, TRIALS_FILE, Journal, TrialBody, encode_json, read_body


def write(directory: Path, *keys: str) -> None:
    """Opens the journal, writes trials with these keys, closes it."""
    journal = Journal(directory)
    for key in keys:
        journal.write_trial(
            TrialRecord(key, "sample", "primary", Status.ANSWERED),
            encode_json(TrialBody(key, answer=f"of {key}")),
        )
    journal.close()


def keys(directory: Path) -> list[str]:
    return [line.key for line in read_lines(directory) if isinstance(line, TrialRecord)]


def answers(directory: Path) -> list[str]:
    lines = [line for line in read_lines(directory) if isinstance(line, TrialRecord)]
    return [read_body(directory, line).answer for line in lines]


def test_what_was_written_is_read_in_order(tmp_path: Path) -> None:
    trial = TrialRecord("k", "s", "primary", Status.ANSWERED, labels={"level": "1"}, scores={"own": 0.5})
    lines: list[JournalLine] = [
        RunEvent("started", 1, {"total": 2}),
        trial,
        ScoreRecord("sk", "k", "exact", 1.0, span="4", detail={"letter": "A"}),
        ScoreRecord("sl", "k", "regex", None, Status.UNPARSED),
    ]
    journal = Journal(tmp_path)
    journal.write_lines(*lines)
    journal.close()
    assert list(read_lines(tmp_path)) == lines


def test_a_body_is_found_by_the_place_in_its_line(tmp_path: Path) -> None:
    write(tmp_path, "a", "b", "ü")
    assert answers(tmp_path) == ["of a", "of b", "of ü"]
    offset, length = next(line.body for line in read_lines(tmp_path) if isinstance(line, TrialRecord))
    assert (tmp_path / BODIES_FILE).read_bytes()[offset : offset + length] == encode_json(
        TrialBody("a", answer="of a")
    )


def test_a_journal_that_is_opened_again_goes_on_at_its_end(tmp_path: Path) -> None:
    write(tmp_path, "a")
    write(tmp_path, "b")
    assert keys(tmp_path) == ["a", "b"]
    assert answers(tmp_path) == ["of a", "of b"]


def test_no_journal_holds_no_lines(tmp_path: Path) -> None:
    assert list(read_lines(tmp_path / "nowhere")) == []


@pytest.mark.parametrize("file", [TRIALS_FILE, BODIES_FILE])
@given(data=st.data())
@settings(max_examples=50, deadline=None)
def test_a_file_torn_anywhere_keeps_what_is_whole_and_goes_on(
    file: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A kill between two bytes: what is left of the last write is passed over, then cut off."""
    directory = tmp_path_factory.mktemp("torn")
    write(directory, "a")
    whole = (directory / file).stat().st_size
    write(directory, "b")
    full = (directory / file).stat().st_size
    os.truncate(directory / file, data.draw(st.integers(whole, full - 1)))
    if file == BODIES_FILE:  # a body is written before its line, so the line was not there yet
        os.truncate(directory / TRIALS_FILE, (directory / TRIALS_FILE).read_bytes().index(b"\n") + 1)
    assert keys(directory) == ["a"]
    write(directory, "c")
    assert keys(directory) == ["a", "c"]
    assert answers(directory) == ["of a", "of c"]


def test_a_kill_between_body_and_line_leaves_a_body_that_no_line_names(tmp_path: Path) -> None:
    write(tmp_path, "a")
    before = (tmp_path / TRIALS_FILE).read_bytes()
    write(tmp_path, "b")
    (tmp_path / TRIALS_FILE).write_bytes(before)
    write(tmp_path, "b")
    assert keys(tmp_path) == ["a", "b"]
    assert answers(tmp_path) == ["of a", "of b"]
    assert (tmp_path / BODIES_FILE).read_bytes().count(b"\n") == 3


def test_a_body_is_there_before_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order = []
    really_write = os.write

    def noted(descriptor: int, data: bytes) -> int:
        order.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        return really_write(descriptor, data)

    monkeypatch.setattr(os, "write", noted)
    write(tmp_path, "a")
    assert order == [BODIES_FILE, TRIALS_FILE]


def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    write(tmp_path, "a", "b", "c")
    lines = (tmp_path / TRIALS_FILE).read_bytes().splitlines(keepends=True)
    lines[1] = b'{"type":"trial","key":"b\n'
    (tmp_path / TRIALS_FILE).write_bytes(b"".join(lines))
    with pytest.raises(JournalError, match=r"trials\.jsonl, line 2: this is not a journal record"):
        list(read_lines(tmp_path))


def test_fields_of_a_newer_version_are_passed_over(tmp_path: Path) -> None:
    line = b'{"type":"trial","key":"a","sample":"s","target":"primary","status":"answered","mood":"good"}\n'
    (tmp_path / TRIALS_FILE).write_bytes(line)
    assert keys(tmp_path) == ["a"]


def test_a_body_that_is_not_there_is_told(tmp_path: Path) -> None:
    write(tmp_path, "a")
    lost = TrialRecord("a", "7", "primary", Status.ANSWERED, body=(99_999, 20))
    with pytest.raises(JournalError, match="conversation of sample 7 was lost"):
        read_body(tmp_path, lost)


def test_another_trials_body_is_never_taken_for_its_own(tmp_path: Path) -> None:
    write(tmp_path, "a", "b")
    first, second = (line for line in read_lines(tmp_path) if isinstance(line, TrialRecord))
    with pytest.raises(JournalError, match="another lies in its place"):
        read_body(tmp_path, msgspec.structs.replace(first, body=second.body))


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were made safe against a power loss, in order."""
    names: list[str] = []
    really_sync = os.fdatasync

    def noted(descriptor: int) -> None:
        names.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        really_sync(descriptor)

    monkeypatch.setattr(os, "fdatasync", noted)
    return names


def test_fsync_always_makes_each_write_safe_before_it_returns(tmp_path: Path, synced: list[str]) -> None:
    journal = Journal(tmp_path, fsync="always")
    for key in ("a", "b"):
        journal.write_trial(TrialRecord(key, "s", "primary", Status.ANSWERED), encode_json(TrialBody(key)))
    assert synced == [BODIES_FILE, TRIALS_FILE] * 2
    journal.close()


def test_otherwise_writes_are_made_safe_together_and_only_if_there_were_any(
    tmp_path: Path, synced: list[str]
) -> None:
    journal = Journal(tmp_path)
    for key in ("a", "b"):
        journal.write_trial(TrialRecord(key, "s", "primary", Status.ANSWERED), encode_json(TrialBody(key)))
    assert synced == []
    journal.sync()
    journal.sync()
    assert synced == [BODIES_FILE, TRIALS_FILE]
    journal.close()


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JournalError, match=r"Cannot write the run to .*file/run: Not a directory"):
        Journal(tmp_path / "file" / "run")


class Strange:
    def __repr__(self) -> str:
        return "something strange"


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("I will not say")


ENDLESS: list[object] = ["round"]
ENDLESS += [ENDLESS, ENDLESS]


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        ({"text": "\ud800 half a pair"}, b'{"text":"? half a pair"}'),
        ({(1, 2): "a tuple as key"}, b'{"(1, 2)":"a tuple as key"}'),
        ({"sets": {7}, "pairs": (1, {2})}, b'{"sets":[7],"pairs":[1,[2]]}'),
        ([Strange(), 2**70, True, None], b'["something strange",1180591620717411303424,true,null]'),
        ([Unspeakable()], b'["<Unspeakable: RuntimeError>"]'),
        ([float("nan"), Strange()], b'[null,"something strange"]'),
        (ENDLESS, b'["round","[\'round\', [...], [...]]","[\'round\', [...], [...]]"]'),
    ],
    ids=["surrogate", "key", "set", "object", "unspeakable", "nan", "endless"],
)
def test_what_json_cannot_hold_is_told_as_well_as_can_be(value: object, encoded: bytes) -> None:
    assert encode_json(value) == encoded
