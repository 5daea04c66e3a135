"""What is read of another program's results: plain data that `keeping` writes into the store as a run.

Nothing is made up: what a program did not write down is absent here, and named in `ForeignRun.lacks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from benchwright.errors import UserError
from benchwright.records import Message, Record, RequestRecord, Status

Part = TypeVar("Part")


class ForeignScore(Record, frozen=True):
    """A score of a trial. Without a value its status says why: `unparsed` or `grader_error`.

    `span` is what was taken as the answer, `explanation` why it scored so, `detail` whatever else there is.
    """

    value: float | None
    status: Status = Status.SCORED
    span: str | None = None
    explanation: str | None = None
    detail: dict[str, Any] | None = None


class ForeignTrial(Record, frozen=True):
    """One answer to one sample: its `status` is `answered`, or what went wrong, whose `reason` is a line of text.

    `sample` is what the other program calls the sample, `repeat` counts from 0. `identity` is that program's own digest
    of the sample, `input` and `target` its question and the expected answer as a person reads them. `requests`
    have the usage and the times that were written down; where a time was not, `total` is 0. `started_at` is in ns
    since the epoch, `duration` in ns, both 0 where they are not known. `unread` says that the record of the trial is
    there but damaged, as `reason` tells. `remarks` are things that a reader of the run should know, one kind each: the
    run's notes count the trials with each.
    """

    sample: str
    repeat: int = 0
    slot: str = "primary"
    status: Status = Status.ANSWERED
    reason: str | None = None
    scores: dict[str, ForeignScore] = {}
    input: str | None = None
    target: str | None = None
    identity: str | None = None
    messages: list[Message] = []
    answer: str = ""
    requests: list[RequestRecord] = []
    started_at: int = 0
    duration: int = 0
    group: str | None = None
    labels: dict[str, str] = {}
    native: Any = None
    unread: bool = False
    remarks: tuple[str, ...] = ()


class ForeignTarget(Record, frozen=True):
    """A model that was asked; `slot` is `primary` where there is one, `settings` what shaped its answers."""

    slot: str
    model: str
    base_url: str = ""
    settings: dict[str, Any] = {}


class ForeignScale(Record, frozen=True):
    """What is known of a score: its range, the least value that passes, and whether less is better.

    `mean` is the plain mean that the program itself gives of the score, to check by it what was read; None where the
    program gives none, or one that is made in another way.
    """

    low: float | None = None
    high: float | None = None
    passing: float | None = None
    lower_is_better: bool = False
    mean: float | None = None


class ForeignRun(NamedTuple):
    """One task of one file or folder, with all models that were asked.

    `format` is the name of the format, as in docs/interop.md, `program` what wrote it, with its version. `task` is what
    was run. `state` is finished, stopped (an error, a cancellation) or unfinished. `scores` names each score in the
    order in which it is shown. `trials` are read as they are asked for, once. `files` are the files and folders that
    the run is read from; without any it is `path` alone. `planned` is the number of trials that the program tells of,
    of which `absent` are known to be nowhere in its files. `lacks` are things that a run of ours has and this file does
    not hold; `notes` what a reader should know, a sentence each.
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
    planned: int | None = None
    absent: int = 0
    files: Sequence[Path] = ()
    lacks: list[str] = []
    notes: list[str] = []
    settings: Mapping[str, Any] = {}

    @property
    def sources(self) -> Sequence[Path]:
        """The files and folders that the run is read from."""
        return self.files or (self.path,)


class UnreadableResults(UserError):
    """A file of another program that cannot be read; names the file and the member, and what is wrong with it."""


Readings = list[ForeignRun | UnreadableResults]
"""What a path holds, in order: its runs, and in the place of a run that cannot be read the error that says why."""


def read_each(
    parts: Iterable[Part], read: Callable[[Part], Iterable[ForeignRun | UnreadableResults]]
) -> Readings:
    """Read the runs of each part; one that is damaged does not keep the others from being read."""
    found: Readings = []
    for part in parts:
        try:
            found += read(part)
        except UnreadableResults as error:
            found.append(error)
    return found


def unread_trial(sample: str, error: UnreadableResults, **more: Any) -> ForeignTrial:
    """Make the trial whose record is damaged: a failure, which says nothing of the model."""
    return ForeignTrial(sample, status=Status.EXECUTION_ERROR, reason=str(error), unread=True, **more)
