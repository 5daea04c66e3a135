"""The progress of a run counts the trials that its table counts, whatever the journal went through."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.records import JournalLine, RunEvent, ScoreRecord, Status, TrialRecord
from benchwright.runs.journal import BODIES_FILE, TRIALS_FILE, Journal, encode_json
from benchwright.runs.journal_progress import JournalProgress
from benchwright.runs.keys import fingerprint
from benchwright.runs.table import RunTable

SECOND = 10**9

EVENTS = st.builds(
    RunEvent,
    st.sampled_from(["started", "stopped", "finished"]),
    st.integers(1, 10**18),
    st.one_of(
        st.just({}), st.fixed_dictionaries({"total": st.integers(0, 20), "finished": st.integers(0, 20)})
    ),
)
ATTEMPTS = st.tuples(st.integers(0, 7), st.sampled_from(Status), st.sampled_from([(0, 0), (0, 50), (60, 60)]))
SCORES = st.integers(0, 7)


@st.composite
def journals(draw: st.DrawFn) -> list[JournalLine]:
    """Lines of several sessions: trials made again and cut off, scores, bodies beyond the end of a file of 100 bytes.

    Some first attempts have a number: they were taken over from another run.
    """
    lines: list[JournalLine] = []
    attempts: dict[int, int] = {}
    for step in draw(st.lists(st.one_of(EVENTS, ATTEMPTS, SCORES), max_size=40)):
        if isinstance(step, RunEvent):
            lines.append(step)
        elif isinstance(step, int):
            key = fingerprint(step)
            lines.append(ScoreRecord(f"{key}-s", key, "exact", 1.0))
        else:
            number, status, body = step
            attempt = attempts.get(number, draw(st.integers(0, 1)))
            attempts[number] = attempt + 1
            lines.append(
                TrialRecord(
                    fingerprint(number),
                    str(number),
                    "primary",
                    status,
                    attempt=attempt,
                    started_at=1,
                    body=body,
                )
            )
    return lines


@settings(max_examples=200, deadline=None)
@given(lines=journals(), cuts=st.lists(st.floats(0, 1), max_size=4), broken=st.booleans())
def test_progress_counts_what_the_table_counts_however_the_journal_grows(
    tmp_path_factory: pytest.TempPathFactory, lines: list[JournalLine], cuts: list[float], broken: bool
) -> None:
    run = tmp_path_factory.mktemp("run")
    (run / BODIES_FILE).write_bytes(b" " * 100)
    content = b"".join(encode_json(line) + b"\n" for line in lines) + b"no record\n" * broken
    progress, table = JournalProgress(run), RunTable(run, strict=False)
    for cut in [*sorted(cuts), 1.0]:
        (run / TRIALS_FILE).write_bytes(content[: round(cut * len(content))])
        assert progress.read_journal(60)
        table.read_journal()
        assert progress.counted_trials == len(table.counted_rows())
        assert progress.planned_trials == table.sessions.planned
    assert progress.bytes_read == table.bytes_read == len(content)


def test_the_pace_is_that_of_the_last_session(tmp_path: Path) -> None:
    journal = Journal(tmp_path)

    def write(name: str, attempt: int = 0) -> None:
        journal.write_lines(TrialRecord(fingerprint(name), name, "primary", Status.ANSWERED, attempt=attempt))

    journal.write_lines(RunEvent("started", SECOND, {"total": 10, "finished": 0}))
    for name in "abc":
        write(name)
    journal.write_lines(RunEvent("started", 100 * SECOND, {"total": 10, "finished": 2}))
    progress = JournalProgress(tmp_path)
    progress.read_journal(60)
    assert (progress.counted_trials, progress.planned_trials, progress.trials_per_second(102 * SECOND)) == (
        3,
        10,
        None,
    )
    write("c", attempt=1)
    write("d")
    journal.close()
    progress.read_journal(60)
    assert (progress.counted_trials, progress.trials_per_second(102 * SECOND)) == (4, 1.0)
    assert progress.seconds_left(102 * SECOND) == 6.0
