"""The table of a run against the rule in plain words: whatever the order of lines, and however they are read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.errors import JournalError
from benchwright.records import FAILED_STATUSES, JournalLine, ScoreRecord, Status, TrialRecord
from benchwright.runs.counting_rules import NO_ANSWER_STATUSES, ScoreState, combine_statuses
from benchwright.runs.journal import BODIES_FILE, TRIALS_FILE, Journal, TrialBody, encode_json
from benchwright.runs.keys import MAX_RECENT_ROWS, RowIndex, fingerprint
from benchwright.runs.table import RunTable

SOLVED = (Status.ANSWERED, Status.REFUSED, Status.TRUNCATED, *sorted(FAILED_STATUSES))
SCORES = st.one_of(st.floats(-1e6, 1e6), st.just(Status.UNPARSED), st.just(Status.GRADER_ERROR))


@st.composite
def journals(draw: st.DrawFn) -> list[JournalLine]:
    """Attempts at a few trials, each scored at once, later, or never; cut off at any time and made again."""
    attempts: dict[str, int] = {}
    lines: list[JournalLine] = []
    for number in range(draw(st.integers(0, 14))):
        sample = draw(st.sampled_from(["0", "1", "007", "name", "-5", ""]))
        key = fingerprint(sample)
        status = draw(st.sampled_from(SOLVED))
        lines.append(
            TrialRecord(
                key, sample, "primary", status, attempt=attempts.get(key, 0), reason=f"reason {number % 3}",
                started_at=number + 1, duration=5, group=draw(st.sampled_from([None, "g", "h"])),
            )
        )  # fmt: skip
        attempts[key] = attempts.get(key, 0) + 1
        for scorer in ("exact", "late"):
            if status not in FAILED_STATUSES and draw(st.booleans()):
                score = draw(SCORES)
                value = score if isinstance(score, float) else None
                kind = Status.SCORED if isinstance(score, float) else score
                lines.append(ScoreRecord(fingerprint(key, scorer), key, scorer, value, Status(kind)))
    return lines


def expected(lines: Sequence[JournalLine]) -> dict[str, tuple[Status, dict[str, tuple[ScoreState, float]]]]:
    """By key: the status of the attempt that counts, its scores folded in, and what it is worth by each score."""
    found: dict[str, tuple[TrialRecord, dict[str, ScoreRecord]]] = {}
    for line in lines:
        if isinstance(line, TrialRecord) and line.status is not Status.CANCELLED:
            found[line.key] = line, {}
        elif (
            isinstance(line, ScoreRecord)
            and line.trial in found
            and found[line.trial][0].status not in FAILED_STATUSES
        ):
            found[line.trial][1][line.scorer] = line
    return {
        key: (
            combine_statuses(record.status, [score.status for score in scores.values()]),
            {name: worth(record, scores.get(name)) for name in ("exact", "late")},
        )
        for key, (record, scores) in found.items()
    }


def worth(record: TrialRecord, score: ScoreRecord | None) -> tuple[ScoreState, float]:
    if score is None:
        silent = record.status in NO_ANSWER_STATUSES
        return ScoreState.NO_ANSWER if silent else ScoreState.FAILED, 0.0
    if score.value is not None:
        return ScoreState.SCORED, score.value
    return ScoreState.FAILED if score.status is Status.GRADER_ERROR else ScoreState.NO_ANSWER, 0.0


def told(table: RunTable) -> dict[str, tuple[Status, dict[str, tuple[ScoreState, float]]]]:
    """What a table tells of each trial, under its key."""
    rows = np.arange(len(table))
    columns = {name: (column.states(rows), column.values(rows)) for name, column in table.scores.items()}
    return {
        table.read_trial(row).record.key: (
            table.status_of(row),
            {
                name: (ScoreState(states[row]), float(values[row]))
                for name, (states, values) in columns.items()
            },
        )
        for row in table.counted_rows().tolist()
    }


def written(directory: Path, lines: Sequence[JournalLine]) -> Path:
    (directory / TRIALS_FILE).write_bytes(b"".join(encode_json(line) + b"\n" for line in lines))
    return directory


@given(lines=journals())
def test_the_attempt_that_counts_and_its_scores_are_those_of_the_rule(
    tmp_path_factory: pytest.TempPathFactory, lines: list[JournalLine]
) -> None:
    table = RunTable(written(tmp_path_factory.mktemp("run"), lines), ["exact", "late"])
    table.read_journal()
    assert told(table) == expected(lines)


@given(lines=journals(), cuts=st.lists(st.integers(0, 4000), max_size=4))
@settings(max_examples=50)
def test_a_journal_read_as_it_grows_is_the_journal_read_at_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[JournalLine], cuts: list[int]
) -> None:
    directory = written(tmp_path_factory.mktemp("run"), lines)
    whole = (directory / TRIALS_FILE).read_bytes()
    table = RunTable(directory, ["exact"])
    (directory / TRIALS_FILE).write_bytes(b"")
    for end in [*sorted(cuts), len(whole)]:
        with (directory / TRIALS_FILE).open("ab") as file:
            file.write(whole[file.tell() : end])
        table.read_journal()
    at_once = RunTable(directory, ["exact"])
    at_once.read_journal()
    assert table.bytes_read == len(whole)
    assert told(table) == told(at_once)


@given(lines=journals())
@settings(max_examples=50)
def test_every_attempt_is_found_with_its_own_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[JournalLine]
) -> None:
    table = RunTable(written(tmp_path_factory.mktemp("run"), lines), ["exact"])
    table.read_journal()
    for row in range(len(table)):
        found = [one.record for one in table.read_attempts(row)]
        key = found[0].key
        assert found == [line for line in lines if isinstance(line, TrialRecord) and line.key == key]


def test_a_line_whose_body_is_gone_is_no_result(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for name in ("a", "b"):
        record = TrialRecord(fingerprint(name), name, "primary", Status.ANSWERED)
        journal.write_trial(record, encode_json(TrialBody(record.key, answer=name)))
    journal.close()
    os.truncate(tmp_path / BODIES_FILE, (tmp_path / BODIES_FILE).stat().st_size // 2)
    table = RunTable(tmp_path)
    table.read_journal()
    assert [table.sample[row] for row in table.counted_rows()] == ["a"]
    assert [table.sample[row] for row in table.lost] == ["b"]


def test_what_is_no_record_is_named_by_its_line_or_counted(tmp_path: Path) -> None:
    (tmp_path / TRIALS_FILE).write_bytes(b'{"type":"event","name":"started","at":1}\nrubbish\n')
    with pytest.raises(JournalError, match="line 2"):
        RunTable(tmp_path).read_journal()
    lenient = RunTable(tmp_path, strict=False)
    assert lenient.read_journal()
    assert lenient.unreadable == 1


def test_an_empty_or_missing_journal_is_an_empty_table(tmp_path: Path) -> None:
    table = RunTable(tmp_path / "nowhere")
    assert table.read_journal()
    assert (len(table), table.counted_rows().tolist()) == (0, [])


def test_a_journal_is_opened_once_however_often_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [TrialRecord(fingerprint(n), str(n), "primary", Status.ANSWERED) for n in range(50)]
    written(tmp_path, lines)
    opened: list[object] = []
    really_open = os.open

    def counting(path: str | Path, *more: int) -> int:
        opened.append(path)
        return really_open(path, *more)

    monkeypatch.setattr(os, "open", counting)
    table = RunTable(tmp_path)
    table.read_journal()
    table.read_journal()
    assert [trial.record.sample for trial in table.read_trials(range(50))] == [str(n) for n in range(50)]
    assert len(opened) == 1


def test_old_keys_are_found_as_well_as_new_ones() -> None:
    index = RowIndex()
    keys = [fingerprint(number) for number in range(3 * MAX_RECENT_ROWS)]
    for row, key in enumerate(keys):
        assert index.add_key(key) == row
    for row in (0, MAX_RECENT_ROWS, 2 * MAX_RECENT_ROWS, 3 * MAX_RECENT_ROWS - 1):
        assert index.find_row(keys[row]) == row
    assert index.find_row(fingerprint("another")) is None
    assert index.find_row("not a key of ours") is None


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 2**40)), max_size=40))
def test_a_column_of_numbers_holds_what_was_put_into_it(puts: list[tuple[int, int]]) -> None:
    from benchwright.runs.columns import IntColumn

    column, plain = IntColumn(lambda: 31), [0] * 31
    for place, value in puts:
        column[place] = plain[place] = value
    assert column.numbers().tolist() == plain
    assert [column[place] for place in range(31)] == plain
    for value in {0, *(value for _, value in puts)}:
        assert column.equal_mask(value).tolist() == [one == value for one in plain]


@given(
    st.lists(
        st.one_of(st.floats(-1e9, 1e9), st.sampled_from([ScoreState.NO_ANSWER, ScoreState.FAILED])),
        max_size=600,
    )
)
def test_a_column_of_scores_keeps_every_value_however_many_there_are(
    given_: list[float | ScoreState],
) -> None:
    from benchwright.runs.columns import ScoreColumn

    column = ScoreColumn()
    for place, one in enumerate(given_):
        column.append_state(ScoreState.FAILED)
        if isinstance(one, ScoreState):
            column.set_score(place, one)
        else:
            column.set_score(place, ScoreState.SCORED, one)
    states = [one if isinstance(one, ScoreState) else ScoreState.SCORED for one in given_]
    values = [None if isinstance(one, ScoreState) else one for one in given_]
    rows = np.arange(len(given_))[::-1]
    assert column.states(rows).tolist() == [int(one) for one in reversed(states)]
    assert column.values(rows).tolist() == [one or 0.0 for one in reversed(values)]
    assert [column.value(place) for place in range(len(given_))] == values


def test_looking_for_a_sample_that_is_not_there_finds_nothing_and_adds_nothing() -> None:
    from benchwright.runs.columns import SampleColumn

    ids = ["7", "name", "-5"]
    column = SampleColumn(lambda: len(ids))
    for place, name in enumerate(ids):
        column[place] = name
    assert [column.rows_of(name) for name in ("007", "8", "other", "")] == [[], [], [], []]
    column[0] = "late"
    assert list(column) == ["late", "name", "-5"]
    assert column.numbers().tolist() == [5, 1, 3]


def test_a_table_that_nobody_holds_leaves_no_file_open(tmp_path: Path) -> None:
    written(tmp_path, [TrialRecord(fingerprint(1), "1", "primary", Status.ANSWERED)])
    RunTable(tmp_path, ["exact"], effort=True).read_journal()
    held = {os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")}
    assert str((tmp_path / TRIALS_FILE).resolve()) not in held
