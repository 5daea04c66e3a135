"""Another program's results as plain data, which `interop.run_import` writes into the store as a run.

Nothing is invented. Data that the program did not write is absent here, and is named in `ForeignRun.lacks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from benchwright.errors import UserError
from benchwright.records import Message, Record, RequestRecord, Status

ResultPart = TypeVar("ResultPart")


class ForeignScore(Record, frozen=True):
    """A score of a trial. If the score has no value, its status says why: `unparsed` or `grader_error`.

    `span`: the passage of the answer that was scored. `explanation`: the reason for the score. `detail`: any
    further data about the score.
    """

    value: float | None
    status: Status = Status.SCORED
    span: str | None = None
    explanation: str | None = None
    detail: dict[str, Any] | None = None


class ForeignTrial(Record, frozen=True):
    """One answer to one sample.

    - `status`: `answered`, or a failure with a line of text in `reason`.
    - `sample`: the name that the other program gives the sample.
    - `repeat`: number of the repeat, from 0.
    - `sample_digest`: the other program's own digest of the sample.
    - `input`: the question in readable form. `target`: the expected answer in readable form.
    - `requests`: the recorded usage and times. A request's `total` is 0 if its time was not recorded.
    - `started_at`: ns since the epoch; 0 if unknown. `duration`: ns; 0 if unknown.
    - `is_damaged`: True if the record of the trial exists but is damaged; `reason` has the error.
    - `remarks`: peculiarities of the trial, in words. The run's notes count the trials with each remark.
    """

    sample: str
    repeat: int = 0
    slot: str = "primary"
    status: Status = Status.ANSWERED
    reason: str | None = None
    scores: dict[str, ForeignScore] = {}
    input: str | None = None
    target: str | None = None
    sample_digest: str | None = None
    messages: list[Message] = []
    answer: str = ""
    requests: list[RequestRecord] = []
    started_at: int = 0
    duration: int = 0
    group: str | None = None
    labels: dict[str, str] = {}
    native: Any = None
    is_damaged: bool = False
    remarks: tuple[str, ...] = ()


class ForeignTarget(Record, frozen=True):
    """A model that was evaluated. `slot`: the model's name within the run; `primary` if it is the only model.

    `settings`: the request settings that influenced the model's answers.
    """

    slot: str
    model: str
    base_url: str = ""
    settings: dict[str, Any] = {}


class ForeignScale(Record, frozen=True):
    """The scale of a score: its range, the lowest value that passes, and whether lower values are better.

    `mean`: the plain mean that the program itself reports. It is used to verify the import. None if the program
    reports no mean, or a mean that is computed differently.
    """

    low: float | None = None
    high: float | None = None
    passing: float | None = None
    lower_is_better: bool = False
    mean: float | None = None


class ForeignRun(NamedTuple):
    """One task in a file or folder of another program's results, with all models that were evaluated.

    - `format`: the name of the format, as in docs/interop.md.
    - `program`: the program that wrote the results, with its version.
    - `state`: finished, stopped (by an error or a cancellation) or unfinished.
    - `scores`: the scores in the order in which they are displayed.
    - `trials`: read lazily, and only once.
    - `files`: the files and folders from which the run is read. If empty, it is read from `path` alone.
    - `planned_trials`: number of trials that the program reports as planned.
    - `absent_trials`: number of planned trials that are known to be missing.
    - `missing_data`: data that Benchwright's own runs have and these files lack.
    - `notes`: facts that a reader of the imported data should know, one sentence each.
    """

    format: str
    program: str
    path: Path
    task: str
    targets: list[ForeignTarget]
    scores: Mapping[str, ForeignScale]
    trials: Iterable[ForeignTrial]
    created_at: int = 0
    ended_at: int = 0
    version: str = ""
    state: str = "finished"
    repeats: int = 1
    planned_trials: int | None = None
    absent_trials: int = 0
    files: Sequence[Path] = ()
    missing_data: list[str] = []
    notes: list[str] = []
    settings: Mapping[str, Any] = {}

    @property
    def sources(self) -> Sequence[Path]:
        """The files and folders from which the run is read."""
        return self.files or (self.path,)


class UnreadableResults(UserError):
    """Another program's results cannot be read.

    The message names the file, the member of an archive, and the problem.
    """


ReadResults = list[ForeignRun | UnreadableResults]
"""The results in a path, in order. Each entry is a run, or the error that prevented reading a run."""


def read_all_parts(
    parts: Iterable[ResultPart], read: Callable[[ResultPart], Iterable[ForeignRun | UnreadableResults]]
) -> ReadResults:
    """Read the runs of each part of some results, such as each file of a folder.

    An error in one part does not prevent the other parts from being read.
    """
    found: ReadResults = []
    for part in parts:
        try:
            found += read(part)
        except UnreadableResults as error:
            found.append(error)
    return found


def damaged_trial(sample: str, error: UnreadableResults, **more: Any) -> ForeignTrial:
    """Return a failed trial in place of a trial whose record is damaged. It does not count against the model."""
    return ForeignTrial(sample, status=Status.EXECUTION_ERROR, reason=str(error), is_damaged=True, **more)
