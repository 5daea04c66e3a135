"""What the tests of the program share: running `benchwright` as its user does, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from tests.journals import read_lines
from tests.programs import start_benchwright

from benchwright.analysis.summary_records import RunSummary
from benchwright.records import FAILED_STATUSES, ScoreRecord, TrialRecord
from benchwright.runs.journal import TRIALS_FILE
from benchwright.runs.manifest import read_manifest

NOWHERE = "http://127.0.0.1:9/v1"


class Program:
    """`benchwright` with a home and a working directory of its own, and none of the caller's settings."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.home = directory / "home"
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("BENCHWRIGHT_", "OPENAI_"))
        }
        self.environment = {**kept, "BENCHWRIGHT_HOME": str(self.home)}
        self.forked = True
        """Whether commands are forked off a process that has its imports done."""
        self._started: list[subprocess.Popen[str]] = []

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Starts a command and does not wait for it."""
        process = start_benchwright(
            arguments,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            directory=self.directory,
            environment={**self.environment, **environment},
            fork=self.forked,
        )
        self._started.append(process)
        return process

    def end(self) -> None:
        """Ends whatever was started and is still at work."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
            with process:
                pass

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end."""
        process = self.start(*arguments, **environment)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def summary(self, *arguments: str, **environment: str) -> RunSummary:
        """Runs a command with `--json` that must end well, and reads what it prints."""
        ended = self.run(*arguments, "--json", **environment)
        assert ended.returncode == 0, ended.stderr
        return msgspec.json.decode(ended.stdout, type=RunSummary)

    def rows(self, count: int, name: str = "rows.jsonl") -> str:
        """Writes a dataset of prompts whose right answer is the prompt itself; returns its name."""
        text = (json.dumps({"prompt": f"word{number}", "answer": f"word{number}"}) for number in range(count))
        (self.directory / name).write_text("\n".join(text) + "\n")
        return name

    def write(self, name: str, text: str) -> str:
        """Writes a file of the user's; returns its name."""
        (self.directory / name).write_text(text)
        return name

    def evaluating(self, dataset: str, base_url: str, *more: str) -> list[str]:
        """The arguments of an evaluation by exact match."""
        return ["eval", "-d", dataset, "--scorer", "exact", "--model", "m", "--base-url", base_url, *more]

    @property
    def runs(self) -> list[Path]:
        """The directories of all runs, the oldest first."""
        found = [path.parent for path in self.home.glob("runs/*/run.json")]
        return sorted(found, key=lambda run: read_manifest(run).created_at)

    @property
    def only_run(self) -> Path:
        """The directory of the only run."""
        (run,) = self.runs
        return run


def trials(run: Path) -> list[TrialRecord]:
    """All attempts at trials that a run's journal holds."""
    return [line for line in read_lines(run) if isinstance(line, TrialRecord)]


def finished(run: Path) -> list[TrialRecord]:
    """The trials that have an answer."""
    return [trial for trial in trials(run) if trial.status not in FAILED_STATUSES]


def scores(run: Path) -> list[ScoreRecord]:
    """All scores that a run's journal holds."""
    return [line for line in read_lines(run) if isinstance(line, ScoreRecord)]


class GrowingJournal:
    """Counts the trials in the journal of the only run while a process writes it, reading only what is new."""

    def __init__(self, program: Program) -> None:
        self._files = program.home / "runs"
        self._read = 0
        self.trials = 0

    def look(self) -> int | None:
        """The number of trials written whole so far, None before there is a journal."""
        for path in self._files.glob(f"*/{TRIALS_FILE}"):
            with path.open("rb") as file:
                file.seek(self._read)
                new = file.read()
            whole = new[: new.rfind(b"\n") + 1]
            self._read += len(whole)
            self.trials += whole.count(b'{"type":"trial"')
            return self.trials if self._read else None
        return None

    def wait_for(self, trials: int, process: subprocess.Popen[str]) -> None:
        """Returns when the process has begun, and so many trials are written."""
        while (seen := self.look()) is None or seen < trials:
            assert process.poll() is None, process.communicate()
            time.sleep(0.001)


def one_line_of(stderr: str) -> str:
    """The error in what a command wrote to stderr: one line that begins with `Error:` or names the usage."""
    lines: Sequence[str] = [line for line in stderr.splitlines() if line.startswith(("Error: ", "Stopped: "))]
    assert len(lines) == 1, stderr
    return lines[0]


def settings(**values: Any) -> list[str]:
    """Options from names and values."""
    return [part for name, value in values.items() for part in (f"--{name.replace('_', '-')}", str(value))]
