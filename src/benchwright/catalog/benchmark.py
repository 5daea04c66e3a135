"""The interface of a benchmark: metadata, samples, a solver, scorers, gold answers and figures."""

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
"""Raised whenever the seal's rules change, because scores under two versions are not comparable."""


class About(Record, frozen=True):
    """Metadata of a benchmark, or of one variant, available without loading any data.

    `variant` is the part of the name after the colon (`mmlu:5shot`); None for the plain benchmark. `protocol`
    describes in one line how a model is asked and graded, and `source` names the publication. `items` is the
    number of samples in the full set. `max_tokens`, `temperature` and `params` (further body fields of every
    request to the model) are the protocol's settings. So is `repeats`: how often each sample is solved for
    the reported mean. `departures` lists the differences from the protocol that every run has.

    `cluster` names the label that assigns samples to groups, for the statistics. `breakdowns` names the
    labels by which scores are shown.

    `options` maps the names that `--option` accepts here to one line of help each. `roles` lists the further
    models that the benchmark can use (`judge`, `user`). `needs` holds words like `tools` or `sandbox`.
    `more_data` is fetched with the dataset. `version` is raised whenever the same row would be asked or
    graded differently. `can_be_sealed` is true if there is a seal (docs/sealed.md) besides the official
    protocol.
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
        """The name by which users select it: `mmlu`, `mmlu:5shot`."""
        return self.name if self.variant is None else f"{self.name}:{self.variant}"


class Check(Record, frozen=True):
    """A scripted conversation and its required score: the gold answer, or a decoy that must not count.

    `replies` are the model's messages, in order. If more are requested, the last one is repeated. `user` and
    `judge` are the messages of the other roles, in order, as text or as messages. If `passes` is true, the
    score must be 1 (gold answer), else below 1 (decoy). `reason` explains an exception: a gold answer known
    to fail, and why. An `exploit` may pass if it has a flag.
    """

    name: str
    replies: list[Message]
    passes: bool = True
    user: list[str | Message] = []
    judge: list[str] = []
    reason: str | None = None
    exploit: bool = False


class Graded(Record, frozen=True):
    """One score of one trial, as input for a benchmark's figures. `value` is None if there is no score."""

    sample: str
    repeat: int
    group: str | None
    labels: Mapping[str, str]
    status: Status
    value: float | None
    detail: Mapping[str, Any]


class Figure(Record, frozen=True):
    """A number of a benchmark besides its score: a macro average, a calibration error, pass^k.

    `note` is a caveat for the reader, for example that the figure is not comparable to published ones.
    """

    name: str
    value: float | None
    note: str | None = None


class Benchmark(Protocol):
    """One benchmark, with its options applied."""

    @property
    def about(self) -> About:
        """The benchmark's metadata."""
        ...

    @property
    def departures(self) -> Sequence[str]:
        """Departures from the published protocol besides `about.departures`, caused by options or data."""
        ...

    @property
    def scorers(self) -> Sequence[Scorer]:
        """Scorers that turn an outcome into scores. The first scorer's score is the benchmark's score."""
        ...

    def samples(self, source: Source) -> Iterator[Sample]:
        """Yield the samples, each read and checked when it is needed.

        Raises:
            DatasetError: If a row is invalid. Names file, row and field.
        """
        ...

    def open(self) -> AbstractAsyncContextManager[Solver]:
        """Start whatever the solver needs; stop it on exit."""
        ...

    def checks(self, sample: Sample) -> Iterator[Check]:
        """Yield the gold answer to a sample, then decoys. The first is the gold answer, if there is one."""
        ...

    def figures(self, graded: Iterable[Graded]) -> Sequence[Figure]:
        """Return numbers besides the score. `graded` holds the scores by the first scorer, one per trial."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """A benchmark whose trials may depend on earlier trials of the same run.

    Such trials all run in one process.
    """

    @property
    def remembers(self) -> bool:
        """True if, with the options that are set, trials depend on earlier ones."""
        ...

    def recall(self, trials: Iterable[TrialRecord], read: Callable[[TrialRecord], Body]) -> None:
        """Load the earlier trials of a run that is resumed. `read` returns a trial's body."""
        ...


def timestamp(nanoseconds: int) -> str:
    """Return the documented timestamp (UTC) of a wall-clock time in nanoseconds: 20260220T120000Z."""
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y%m%dT%H%M%SZ")


class Options(msgspec.Struct, frozen=True):
    """The values of `--option`, the roles with their own model, the data directory, and the seal switch."""

    values: Mapping[str, str] = {}
    roles: frozenset[str] = frozenset()
    data_dir: Path = Path("data")
    sealed: bool = True

    def text(self, name: str, default: str = "") -> str:
        """Return the value of an option, unchanged."""
        return self.values.get(name, default)

    def integer(self, name: str, default: int, least: int = 0) -> int:
        """Return the value of an option that takes a whole number of at least `least`.

        Raises:
            UserError: If the value is not a whole number, or too small.
        """
        from benchwright.errors import UserError

        given = self.values.get(name)
        if given is None:
            return default
        if not given.isdecimal() or int(given) < least:
            raise UserError(f"--option {name} takes a whole number of at least {least}, got {given!r}.")
        return int(given)

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """Return the value of an option that takes one of several words. The default is the first word.

        Raises:
            UserError: If the value is none of these words.
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
