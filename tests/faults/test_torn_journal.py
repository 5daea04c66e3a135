"""After a crash of the machine a file of a run may end anywhere: nothing whole is lost, nothing is told wrong."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.app_kit import Program, trials
from tests.app.eval_kit import Server, logging_server
from tests.faults.how_often import tried

ROWS = 5
COMMANDS = (
    ["runs"],
    ["show", "RUN", "--json"],
    ["compare", "RUN", "RUN"],
    ["report", "RUN", "-o", "page.html"],
    ["export", "RUN", "-o", "rows.csv"],
)

FILES = st.sampled_from(["trials.jsonl", "bodies.jsonl"])
PLACES = st.floats(0, 1, exclude_max=True)


class Kept:
    """A finished run of a few rows, whose files are torn and put back."""

    def __init__(self, program: Program, server: Server) -> None:
        self.program = program
        self.server = server
        self.command = program.evaluating(program.rows(ROWS), server.base_url, "--batch-size=2")
        assert program.run(*self.command).returncode == 0
        self.run = program.only_run
        shutil.copytree(self.run, program.directory / "kept")

    def torn(self, file: str, place: float) -> None:
        """Puts the run back, one of its files cut off at this part of it."""
        shutil.rmtree(self.run)
        shutil.copytree(self.program.directory / "kept", self.run)
        path = self.run / file
        os.truncate(path, int(path.stat().st_size * place))

    def whole(self) -> int:
        """How many trials have their line and their body."""
        size = (self.run / "bodies.jsonl").stat().st_size
        text = (self.run / "trials.jsonl").read_bytes()
        lines = [json.loads(line) for line in text[: text.rfind(b"\n") + 1].splitlines()]
        bodies = [line["body"] for line in lines if line["type"] == "trial"]
        return sum(start + length < size for start, length in bodies)

    def conversations(self) -> dict[str, Any]:
        """The question and the answer of each row, as they are told."""
        told = {}
        for row in range(ROWS):
            shown = self.program.run("show", self.run.name, "--row", str(row), "--json")
            assert shown.returncode == 0, shown.stderr
            *_, last = json.loads(shown.stdout)["attempts"]
            told[str(row)] = [message["content"] for message in last["body"]["messages"]]
        return told


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    directory = tmp_path_factory.mktemp("torn")
    program = Program(directory)
    with logging_server(directory / "truth.jsonl") as server:
        yield Kept(program, server)
        program.end()


@tried(6, of="file")
@given(file=FILES, place=PLACES)
def test_every_command_that_reads_it_has_a_result_or_one_line(kept: Kept, file: str, place: float) -> None:
    kept.torn(file, place)
    for command in COMMANDS:
        ended = kept.program.run(*(kept.run.name if word == "RUN" else word for word in command))
        assert ended.returncode in (0, 1), ended.stderr
        assert "Traceback" not in ended.stderr
        assert ended.returncode == 0 or ended.stderr.splitlines()[-1].startswith("Error: ")


@tried(6, of="file")
@given(file=FILES, place=PLACES)
def test_the_same_command_makes_it_whole_and_asks_for_what_is_gone_only(
    kept: Kept, file: str, place: float
) -> None:
    kept.torn(file, place)
    left, before = kept.whole(), kept.server.asked()
    ended = kept.program.run(*kept.command)
    assert ended.returncode == 0, ended.stderr
    assert kept.server.asked() - before == ROWS - left
    assert {trial.sample for trial in trials(kept.run)} == {str(row) for row in range(ROWS)}
    assert kept.conversations() == {str(row): [f"word{row}", f"word{row}"] for row in range(ROWS)}
