"""Sessions that end in a power loss, one after another: what counts is what still has its body, at every moment."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchwright.errors import JournalError
from benchwright.records import Record, Status, TrialRecord
from benchwright.runs.journal import (
    BODIES_FILE,
    TRIALS_FILE,
    Journal,
    TrialBody,
    encode_json,
    read_body,
)
from benchwright.runs.journal_progress import JournalProgress
from benchwright.runs.keys import fingerprint
from benchwright.runs.table import RunTable

SAMPLES = [f"sample{number}" for number in range(6)]


class Session(Record, frozen=True):
    """Samples in the order in which they end, how long their bodies are, after how many the disk is synced.

    Of the lines written since then a part is left, of all bodies another; nothing is lost where it was only killed.
    A session that is `cut_short` ends before it writes anything.
    """

    order: list[str]
    lengths: list[int]
    synced: int
    lines_kept: float
    bodies_kept: float
    cut_short: bool

    @property
    def killed(self) -> bool:
        """Whether it ended without a power loss."""
        return self.lines_kept == self.bodies_kept == 1.0


def parts() -> st.SearchStrategy[float]:
    """How much of a file is left: all of it, half the time."""
    return st.one_of(st.just(1.0), st.floats(0, 1))


SESSIONS = st.builds(
    Session,
    order=st.permutations(SAMPLES).flatmap(lambda all: st.integers(0, len(all)).map(lambda n: list(all[:n]))),
    lengths=st.lists(st.integers(1, 400), min_size=len(SAMPLES), max_size=len(SAMPLES)),
    synced=st.integers(0, len(SAMPLES)),
    lines_kept=parts(),
    bodies_kept=parts(),
    cut_short=st.booleans(),
)


def read(directory: Path) -> RunTable:
    """The table of a journal as it is now."""
    table = RunTable(directory)
    table.read_journal()
    return table


def lines(directory: Path) -> list[TrialRecord]:
    """Every attempt that has a line."""
    return [line for line in RunTable(directory).read_records() if isinstance(line, TrialRecord)]


def has_its_body(directory: Path, record: TrialRecord) -> bool:
    """Whether the bytes of an attempt's body are its own, to the line end; `reason` is what only this body says."""
    length = sum(record.body)
    if length >= (directory / BODIES_FILE).stat().st_size:
        return False
    try:
        return read_body(directory, record).answer.rstrip() == record.reason
    except JournalError:
        return False


def check(directory: Path, following: RunTable) -> None:
    """The table, read now or bit by bit, knows by the sizes what the bytes say."""
    made = lines(directory)
    whole = {record.sample: record for record in made if has_its_body(directory, record)}
    following.read_journal()
    for table in (read(directory), following):
        assert {table.sample[row] for row in table.counted_rows()} == whole.keys()
        assert {table.read_record(row).reason for row in table.counted_rows()} == {
            one.reason for one in whole.values()
        }
        assert {table.sample[row] for row in table.lost} == {one.sample for one in made} - whole.keys()
    progress = JournalProgress(directory)
    progress.read_journal()
    assert progress.counted_trials == len(whole)


def go_on(directory: Path, session: Session, number: int) -> int:
    """A session as the engine has it, which asks what has no result; how many bytes of lines are safe."""
    journal = Journal(directory)
    table = read(directory)
    safe = 0
    if table.bodies.torn and not session.cut_short:
        journal.write_body_loss_point()
        safe = (directory / TRIALS_FILE).stat().st_size
    for place, sample in enumerate([] if session.cut_short else session.order):
        if place == session.synced:
            journal.sync()
            safe = (directory / TRIALS_FILE).stat().st_size
        key = fingerprint(sample)
        row = table.find_row(key)
        if row is not None and table.is_counted(row):
            continue
        attempt = 0 if row is None else table.count_attempts(row)
        said = f"{sample} in session {number}"
        record = TrialRecord(key, sample, "primary", Status.ANSWERED, attempt=attempt, reason=said)
        journal.write_trial(
            record, encode_json(TrialBody(key, attempt=attempt, answer=said + " " * session.lengths[place]))
        )
    journal.close()
    return safe


def lose(directory: Path, session: Session, safe: int) -> None:
    """Cuts off what was not on the disk yet."""
    size = (directory / TRIALS_FILE).stat().st_size
    os.truncate(directory / TRIALS_FILE, safe + int((size - safe) * session.lines_kept))
    bodies = directory / BODIES_FILE
    os.truncate(bodies, int(bodies.stat().st_size * session.bodies_kept))


def unsynced(*order: str, length: int = 1, lines_kept: float = 1.0, bodies_kept: float = 1.0) -> Session:
    """A session whose lines are never made safe by a sync of its own."""
    return Session(
        list(order), [length] * len(SAMPLES), len(SAMPLES), lines_kept, bodies_kept, cut_short=False
    )


LINES_LOST_AFTER_A_CUT = [
    unsynced(*SAMPLES, length=400, bodies_kept=0.0),
    unsynced(SAMPLES[0]),
    unsynced(lines_kept=0.0),
    unsynced(SAMPLES[0]),
]


@example(sessions=LINES_LOST_AFTER_A_CUT)
@given(sessions=st.lists(SESSIONS, min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_what_counts_has_its_body_however_often_power_was_lost(
    tmp_path_factory: pytest.TempPathFactory, sessions: Iterable[Session]
) -> None:
    directory = tmp_path_factory.mktemp("run")
    safe = 0
    for number, session in enumerate(sessions):
        following = read(directory)
        safe = max(safe, go_on(directory, session, number))
        check(directory, following)
        lose(directory, session, safe)
        if not session.killed:
            safe = (directory / TRIALS_FILE).stat().st_size
        check(directory, read(directory))
