"""Validation: checks that gold answers score 1 and decoys do not, by the benchmark's solver and scorers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec

from benchwright.catalog.benchmark import Benchmark
from benchwright.catalog.scripted_checks import (
    DECOY_LABEL,
    EXPLOIT_LABEL,
    KNOWN_FAILURE_LABEL,
    NOT_APPLICABLE_EXIT_CODE,
    ScriptedTask,
)
from benchwright.catalog.selection import Selection
from benchwright.data.datasets import Source
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.request import BeginCallback, begin_immediately
from benchwright.engine.embedded_run import run_embedded
from benchwright.engine.plan import Plan
from benchwright.errors import ExecutionError
from benchwright.records import (
    FAILED_STATUSES,
    Record,
    RequestRecord,
    ScoreRecord,
    Target,
    Trial,
    TrialRecord,
)
from benchwright.runs.flags import flags_in
from benchwright.runs.journal import read_body
from benchwright.runs.table import RunTable

MAX_CONCURRENCY = 8

PLACEHOLDER_TARGET = Target("primary", "scripted", "http://scripted.invalid/v1")
"""Placeholder for the target of a run that sends no requests."""


LOG_LINES = 20
"""Maximum number of lines at the end of a test log that a `CheckFailure` keeps.

They have at most `LOG_CHARACTERS` characters.
"""
LOG_CHARACTERS = 8000


class CheckFailure(Record, frozen=True):
    """A check with an unexpected result. `check`: the sample's id and the check's name, separated by a slash.

    `said`: a sentence on what is wrong. `log`: the unchanged end of the test output for a gold answer; empty
    if no tests ran.
    """

    check: str
    said: str
    log: str = ""


class ExploitTally(Record, frozen=True):
    """Numbers of trials with exploits (scripted agents that cheat) of one class.

    `blocked`: exploits that did not pass. `flagged`: exploits that passed, with a flag. `unnoticed`: exploits
    that passed without a flag. `not_applicable`: exploits that could not be tried, because the container
    lacks something.
    """

    blocked: int = 0
    flagged: int = 0
    unnoticed: int = 0
    not_applicable: int = 0


class ValidationResult(Record, frozen=True):
    """Result of a validation: the number of checks, the failed ones, and the known exceptions with their reasons.

    - `run`: id of the run, which is kept on disk if checks failed.
    - `exploits`: the results by class of exploit, if exploits were tried.
    - `leaks`: for each sample, lines about solution files found in its image, or about files not searched.
    """

    name: str
    samples: int
    checks: int
    failures: list[CheckFailure]
    exceptions: dict[str, str] = {}
    run: str | None = None
    exploits: dict[str, ExploitTally] = {}
    leaks: dict[str, list[str]] = {}


async def validate_benchmark(
    benchmark: Benchmark,
    source: Source,
    selection: Selection = Selection(),  # noqa: B008  # frozen
    directory: Path | None = None,
    arrange: Callable[[Iterator[Trial]], Iterator[Trial]] | None = None,
) -> ValidationResult:
    """Run all checks of the selected samples, and return the result.

    `directory`: where the journal is kept; None for a temporary one. `arrange`: changes the order of the
    trials, see `Plan`.

    Raises:
        DatasetError: If a row is invalid.
        UserError: If no sample is selected, or the selection names an id, label or value that no sample has.
    """
    task = ScriptedTask(benchmark, source, selection)
    count = task.size()
    plan = Plan(task, count, (PLACEHOLDER_TARGET,), reorder_trials=arrange)
    with nullcontext(directory) if directory else tempfile.TemporaryDirectory() as place:
        await run_embedded(plan, {"primary": _Nobody()}, MAX_CONCURRENCY, Path(place))
        return _judge(benchmark.about.full_name, Path(place))


class _Nobody:
    """A client for runs without a model. It sends no requests."""

    target = PLACEHOLDER_TARGET

    async def ask(
        self,
        path: str,
        body: Mapping[str, Any],
        begin: BeginCallback = begin_immediately,
        note: Callable[[RequestRecord], None] | None = None,
    ) -> Reply:
        """Raise ExecutionError, because no request is expected."""
        raise ExecutionError("a scripted check asked a model")

    async def count_tokens(self, text: str) -> int | None:
        """Return None: there is no tokenizer."""
        return None

    def stop_waiting(self) -> None:
        """Do nothing: no request is in flight."""

    def close(self) -> None:
        """Do nothing: no connection is open."""


def _judge(name: str, directory: Path) -> ValidationResult:
    table = RunTable(directory, effort=True)
    table.read_journal()
    failures: list[CheckFailure] = []
    exceptions: dict[str, str] = {}
    exploits: dict[str, ExploitTally] = {}
    for trial in table.read_trials(table.rows_in_start_order(table.counted_rows())):
        record = trial.record
        if record.status in FAILED_STATUSES:
            failures.append(_failure(directory, record, record.reason or record.status))
        for score in trial.scores.values():
            said = _complaint(record, score)
            if exploit := record.labels.get(EXPLOIT_LABEL):
                verdict = _verdict(directory, record, score)
                exploits[exploit] = _counted(exploits.get(exploit, ExploitTally()), verdict)
            reason = record.labels.get(KNOWN_FAILURE_LABEL)
            if reason is not None:
                exceptions[record.sample] = reason
                said = None if said else "passes, although it is listed as an exception"
            if said:
                failures.append(_failure(directory, record, said))
    samples = {sample.rpartition("/")[0] for sample in table.sample}
    return ValidationResult(name, len(samples), len(table), failures, exceptions, exploits=exploits)


def _verdict(directory: Path, trial: TrialRecord, score: ScoreRecord) -> str:
    """Return the name of the `ExploitTally` field that counts this trial of an exploit.

    The name depends on the score and on the exit codes of the exploit's commands.
    """
    if score.value == 1.0:
        return "flagged" if flags_in(score.detail) else "unnoticed"
    commands = read_body(directory, trial).artifacts.get("commands") or ()
    tried = all(command.get("exit_code") != NOT_APPLICABLE_EXIT_CODE for command in commands)
    return "blocked" if tried else "not_applicable"


def _counted(tally: ExploitTally, verdict: str) -> ExploitTally:
    """Return the tally with one more exploit in the field that `verdict` names."""
    return msgspec.structs.replace(tally, **{verdict: getattr(tally, verdict) + 1})


def _failure(directory: Path, trial: TrialRecord, said: str) -> CheckFailure:
    log = "" if DECOY_LABEL in trial.labels else last_log_lines(read_body(directory, trial).artifacts)
    return CheckFailure(trial.sample, said, log)


def last_log_lines(artifacts: Mapping[str, Any]) -> str:
    """Return the last lines of the test output in an outcome's artifacts. Return "" if there is no output."""
    tests = artifacts.get("tests") or artifacts.get("validation")
    if not isinstance(tests, Mapping):
        return ""
    log = str(tests.get("log") or tests.get("output") or "")
    return "\n".join(log[-LOG_CHARACTERS:].rstrip().splitlines()[-LOG_LINES:])


def _complaint(trial: TrialRecord, score: ScoreRecord) -> str | None:
    passed = score.value == 1.0
    if EXPLOIT_LABEL in trial.labels:
        unnoticed = passed and not flags_in(score.detail)
        return "passes without a flag, and solves nothing" if unnoticed else None
    if DECOY_LABEL in trial.labels:
        return "scores 1, although it is wrong" if passed else None
    if passed:
        return None
    why = (score.detail or {}).get("error")
    return f"scores {score.value}, although it is correct" + (f" ({why})" if why else "")
