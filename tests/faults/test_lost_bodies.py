"""After a crash of the machine new conversations take the place of those lost: what is not made again stays lost."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from time import time_ns

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.app.app_kit import GrowingJournal, Program, trials
from tests.faults.how_often import tried
from tests.journals import read_lines
from tests.simulated import simulated_endpoint

from benchwright.analysis.transcripts import transcripts
from benchwright.records import RunEvent, ScoreRecord
from benchwright.runs.journal import (
    BODIES_FILE,
    BODY_LOSS_POINTS_FILE,
    TRIALS_FILE,
    Journal,
    read_encoded_body,
)
from benchwright.runs.table import read_table

ROWS = 8


def question(row: int) -> str:
    """What a row asks: the first rows the longest, so that their new conversations cover several others."""
    return " ".join([f"word{row}"] * (1 + 40 * (ROWS - row)))


class Torn:
    """A finished run, whose rows are put in some order, and whose conversations are cut off at some place."""

    def __init__(self, program: Program, base_url: str) -> None:
        self.program = program
        rows = [json.dumps({"prompt": question(row), "answer": question(row)}) for row in range(ROWS)]
        program.write("rows.jsonl", "\n".join(rows))
        self.command = program.evaluating("rows.jsonl", base_url, "--batch-size=1")
        assert program.run(*self.command).returncode == 0
        self.run = program.only_run
        shutil.copytree(self.run, program.directory / "kept")

    def tear(self, order: Sequence[int], place: float) -> int:
        """Puts the run back as if its rows had ended in this order, and tears it; how many rows have lost theirs."""
        kept = self.program.directory / "kept"
        made = {trial.sample: trial for trial in trials(kept)}
        scores = {line.trial: line for line in read_lines(kept) if isinstance(line, ScoreRecord)}
        for name in (TRIALS_FILE, BODIES_FILE, BODY_LOSS_POINTS_FILE):
            (self.run / name).unlink(missing_ok=True)
        journal = Journal(self.run)
        journal.write_lines(RunEvent("started", time_ns(), {"total": ROWS}))
        for row in order:
            trial = made[str(row)]
            journal.write_trial(trial, read_encoded_body(kept, trial))
            journal.write_lines(scores[trial.key])
        journal.write_lines(RunEvent("finished", time_ns()))
        journal.close()
        size = int((self.run / BODIES_FILE).stat().st_size * place)
        os.truncate(self.run / BODIES_FILE, size)
        return sum(sum(trial.body) >= size for trial in trials(self.run))

    def resume_and_kill(self, after: int) -> None:
        """Goes on with the run, and kills it once so many trials are made again."""
        journal = GrowingJournal(self.program)
        journal.look()
        process = self.program.start(*self.command)
        journal.wait_for(ROWS + after, process)
        process.kill()
        process.communicate()
        assert process.returncode == -9, "it was still at work"

    def made_again(self) -> Counter[str]:
        """How many attempts at each row the journal holds, beyond the first."""
        return Counter(trial.sample for trial in trials(self.run)[ROWS:])

    def told_as_lost(self) -> int:
        """How many rows are said to be without a result."""
        return ROWS - self.program.summary("show", self.run.name).done

    def conversations(self) -> dict[int, list[str]]:
        """What `show --row` tells of the last attempt at each row whose conversation is there."""
        table = read_table(self.run)
        last = {row: transcripts(table, str(row))[-1].body for row in range(ROWS)}
        return {
            row: [str(message["content"]) for message in body.messages]
            for row, body in last.items()
            if body is not None
        }


@pytest.fixture(scope="module")
def torn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Torn]:
    directory = tmp_path_factory.mktemp("torn")
    program = Program(directory)
    with simulated_endpoint("--first-token=150") as base_url:
        yield Torn(program, base_url)
        program.end()


@tried(4)
@given(order=st.permutations(range(ROWS)), place=st.floats(0, 0.9), after=st.integers(1, ROWS - 1))
def test_what_a_killed_session_had_not_made_again_is_still_lost(
    torn: Torn, order: list[int], place: float, after: int
) -> None:
    lost = torn.tear(order, place)
    assume(after < lost)
    assert torn.told_as_lost() == lost

    torn.resume_and_kill(after)
    left = lost - len(torn.made_again())
    assert torn.told_as_lost() == left
    told = torn.conversations()
    assert len(told) == ROWS - left
    assert told == {row: [question(row)] * 2 for row in told}

    ended = torn.program.run(*torn.command)
    assert ended.returncode == 0, ended.stderr
    assert (f"{left} conversation" in ended.stderr) == (left > 0)
    assert len(torn.made_again()) == torn.made_again().total() == lost
    assert torn.conversations() == {row: [question(row)] * 2 for row in range(ROWS)}
