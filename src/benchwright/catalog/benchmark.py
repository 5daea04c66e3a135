"""What a benchmark is: metadata, samples, a solver, scorers, gold answers and figures of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec

from benchwright.data.declared import Dataset
from benchwright.records import Message, Record, Sample, Status, TrialRecord

if TYPE_CHECKING:
    from benchwright.data.source import Source
    from benchwright.engine.protocols import Scorer, Solver
    from benchwright.runs.journal import Body

GOLD = "gold"
"""The name of the check whose answer is right."""

SEAL_VERSION = "2"
"""Raised whenever a seal would let something else through: scores of two versions are different scores."""


class About(Record, frozen=True):
    """What is known of a benchmark, or of one variant of it, without loading anything.

    `variant` is what follows the colon in its name (`mmlu:5shot`), None for the plain one. `protocol` says in
    one line how a model is asked and graded, `source` where that was published. `items` is the number of
    samples of the full set. `max_tokens`, `temperature` and `params` (further body fields of every request to the
    model) are the protocol's own, as is `repeats`: how often it solves each sample for the mean that it reports.
    `departures` says in what every run differs from the protocol all the same.
    `cluster` names the label by which samples come in groups, for the statistics; `breakdowns` the labels by
    which scores are shown.
    `options` are those that `--option` takes here, with one line of help each; `roles` the further models it
    can use (`judge`, `user`). `needs` are words like `tools` or `sandbox`. `more_data` is fetched with the
    dataset. `version` is raised whenever the same row would be asked or graded differently. `can_be_sealed` says
    whether there is a seal (docs/sealed.md) besides the official protocol.
    """

    name: str
    title: str
    description: str
    tier: int
    items: int
    licence: str
    protocol: str
    source: str
    dataset: Dataset
    version: str = "1"
    variant: str | None = None
    metric: str = "accuracy"
    max_tokens: int | None = None
    smaller_max_tokens: bool = False
    temperature: float = 0.0
    params: Mapping[str, Any] = {}
    repeats: int = 1
    departures: tuple[str, ...] = ()
    cluster: str | None = None
    breakdowns: tuple[str, ...] = ()
    options: Mapping[str, str] = {}
    roles: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    gated: bool = False
    can_be_sealed: bool = False
    more_data: tuple[Dataset, ...] = ()

    @property
    def full_name(self) -> str:
        """The name with which it is asked for: `mmlu`, `mmlu:5shot`."""
        return self.name if self.variant is None else f"{self.name}:{self.variant}"


class Check(Record, frozen=True):
    """A scripted conversation and what it must score: the gold answer, or a decoy that must not count.

    `replies` are what the model says, in turn (assistant messages; the last one is said again if it is asked
    once more); `user` and `judge` are what the other roles say, in turn, as text or as messages. `passes` is
    whether the score must be 1 (gold) or below 1 (a decoy). `reason` explains an exception: a gold answer known to
    fail, and why. An `exploit` may pass, if it has a flag.
    """

    name: str
    replies: list[Message]
    passes: bool = True
    user: list[str | Message] = []
    judge: list[str] = []
    reason: str | None = None
    exploit: bool = False


class Graded(Record, frozen=True):
    """One score of one trial, as a benchmark's own figures see it. `value` is None where there is none."""

    sample: str
    repeat: int
    group: str | None
    labels: Mapping[str, str]
    status: Status
    value: float | None
    detail: Mapping[str, Any]


class Figure(Record, frozen=True):
    """A number of a benchmark besides its score: a macro average, a calibration error, pass^k.

    `note` says what a reader must know of it, for example that it is not comparable to published ones.
    """

    name: str
    value: float | None
    note: str | None = None


class Benchmark(Protocol):
    """One benchmark, with its options settled."""

    @property
    def about(self) -> About:
        """Its metadata."""
        ...

    @property
    def departures(self) -> Sequence[str]:
        """In what this differs from the published protocol besides `about.departures`, because of options or data."""
        ...

    @property
    def scorers(self) -> Sequence[Scorer]:
        """What turns an outcome into scores; the first one's is the benchmark's score."""
        ...

    def samples(self, source: Source) -> Iterator[Sample]:
        """The samples, read and checked as they are needed.

        Raises:
            DatasetError: a row is not as it should be; names file, row and field.
        """
        ...

    def open(self) -> AbstractAsyncContextManager[Solver]:
        """Starts what the solver needs, and ends it."""
        ...

    def checks(self, sample: Sample) -> Iterator[Check]:
        """The gold answer to a sample, and decoys; the first is the gold one, where there is one."""
        ...

    def figures(self, graded: Iterable[Graded]) -> Sequence[Figure]:
        """Numbers besides the score; `graded` holds the scores by the first scorer, trial by trial."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """A benchmark whose trials may depend on earlier ones of the same run, which are then all run in one process."""

    @property
    def remembers(self) -> bool:
        """Whether they do, with the options that are set."""
        ...

    def recall(self, trials: Iterable[TrialRecord], read: Callable[[TrialRecord], Body]) -> None:
        """Is told of the trials that the run has when it is resumed; `read` gives the body of one."""
        ...


def timestamp(nanoseconds: int) -> str:
    """The documented timestamp of a wall-clock moment: 20260220T120000Z."""
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y%m%dT%H%M%SZ")


class Options(msgspec.Struct, frozen=True):
    """The values of `--option`, which roles have a model of their own, where data lies, and whether to seal."""

    values: Mapping[str, str] = {}
    roles: frozenset[str] = frozenset()
    data_dir: Path = Path("data")
    sealed: bool = True

    def text(self, name: str, default: str = "") -> str:
        """An option as it was given."""
        return self.values.get(name, default)

    def integer(self, name: str, default: int, least: int = 0) -> int:
        """An option that is a whole number.

        Raises:
            UserError: it is none, or too small.
        """
        from benchwright.errors import UserError

        given = self.values.get(name)
        if given is None:
            return default
        if not given.isdecimal() or int(given) < least:
            raise UserError(f"--option {name} takes a whole number of at least {least}, got {given!r}.")
        return int(given)

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """An option that is one of several words; the first of them unless given.

        Raises:
            UserError: it is another one.
        """
        from benchwright.errors import UserError
        from benchwright.suggest import did_you_mean

        given = self.values.get(name, choices[0])
        if given not in choices:
            known = ", ".join(choices)
            raise UserError(
                f"--option {name} is one of {known}, not {given!r}.{did_you_mean(given, choices)}"
            )
        return given
