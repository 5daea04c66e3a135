"""The interface of a benchmark: metadata, samples, a solver, scorers, gold answers and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec

from benchwright.data.dataset_spec import Dataset
from benchwright.records import Message, Record, Sample, Status, TrialRecord

if TYPE_CHECKING:
    from benchwright.data.source import Source
    from benchwright.engine.protocols import Scorer, Solver
    from benchwright.runs.journal import TrialBody

GOLD = "gold"
"""The name of the check that sends the gold answer."""

SEAL_VERSION = "2"
"""Version of the rules of the seal, which protects tests and solutions from agents that cheat.

It is increased whenever the rules change: scores under different versions are not comparable.
"""


class About(Record, frozen=True):
    """Metadata of a benchmark, or of one variant, available without loading any data.

    Identity:
    - `variant`: the part of the name after the colon (`mmlu:5shot`); None for the plain benchmark.
    - `protocol`: one line on how a model is asked and graded; `source`: the publication.
    - `items`: number of samples in the full set; `more_data`: further data, fetched with the dataset.
    - `version`: increased whenever the same row would be asked or graded differently.

    Settings of the protocol:
    - `max_tokens`, `temperature` and `params` (further body fields): sent with every request to the model.
    - `repeats`: how often each sample is solved for the reported mean.
    - `departures`: differences from the published protocol in every run.

    Statistics:
    - `cluster`: name of the label whose values form the clusters of samples.
    - `breakdowns`: names of the labels by which scores are broken down.

    Requirements:
    - `options`: names that `--option` accepts, each with one line of help.
    - `roles`: further models that can take part (`judge`, `user`); `needs`: words like `tools` or `sandbox`.
    - `can_be_sealed`: True if a seal against cheating agents (docs/sealed.md) can be added to the protocol.
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
    """A scripted conversation and its required score: the gold answer, or a decoy (a wrong answer).

    - `replies`: the model's messages, in order. The last one is repeated if more are requested.
    - `user_replies`, `judge_replies`: the messages of these roles, in order.
    - `passes`: True if the score must be 1 (gold answer), False if it must be below 1 (decoy).
    - `reason`: why a gold answer is known to fail; None for all others.
    - `is_exploit`: True for a scripted agent that cheats. It may score 1 only if the trial is flagged.
    """

    name: str
    replies: list[Message]
    passes: bool = True
    user_replies: list[str | Message] = []
    judge_replies: list[str] = []
    reason: str | None = None
    is_exploit: bool = False


class GradedTrial(Record, frozen=True):
    """One score of one trial, as input for a benchmark's figures. `value`: None if the trial has no score."""

    sample: str
    repeat: int
    group: str | None
    labels: Mapping[str, str]
    status: Status
    value: float | None
    detail: Mapping[str, Any]


class Figure(Record, frozen=True):
    """A number that a benchmark reports besides its score: a macro average, a calibration error, pass^k.

    `note`: a caveat for the reader, for example that published figures are not comparable.
    """

    name: str
    value: float | None
    note: str | None = None


class Benchmark(Protocol):
    """Interface of one benchmark with its options applied: samples, solver, scorers, checks and figures."""

    @property
    def about(self) -> About:
        """The benchmark's metadata."""
        ...

    @property
    def departures(self) -> Sequence[str]:
        """Departures from the published protocol that options or data cause.

        They are added to the departures in every run, which `about.departures` lists.
        """
        ...

    @property
    def scorers(self) -> Sequence[Scorer]:
        """Scorers that turn an outcome into scores. The first scorer's score is the benchmark's score."""
        ...

    def samples(self, source: Source) -> Iterator[Sample]:
        """Yield the samples. Each row is read and checked only when its sample is requested.

        Raises:
            DatasetError: If a row is invalid. The message names file, row and field.
        """
        ...

    def open(self) -> AbstractAsyncContextManager[Solver]:
        """Start whatever the solver needs, and yield the solver. On exit, stop what was started."""
        ...

    def checks(self, sample: Sample) -> Iterator[Check]:
        """Yield the checks of a sample: first its gold answer, if the sample has one, then the decoys."""
        ...

    def figures(self, graded: Iterable[GradedTrial]) -> Sequence[Figure]:
        """Return the benchmark's figures besides its score. `graded`: the first scorer's scores, one per trial."""
        ...


@runtime_checkable
class StatefulBenchmark(Protocol):
    """A benchmark in which a trial may depend on earlier trials of the same run, for example through a memory.

    The trials of such a benchmark all run in one process.
    """

    @property
    def is_stateful(self) -> bool:
        """True if, under the current options, trials depend on earlier trials."""
        ...

    def restore_state(self, trials: Iterable[TrialRecord], read: Callable[[TrialRecord], TrialBody]) -> None:
        """Load the state that the earlier trials of a resumed run have left.

        `read` returns the journal body of a trial.
        """
        ...


def format_timestamp(nanoseconds: int) -> str:
    """Return a wall-clock time in nanoseconds as a UTC timestamp in llm-benchmarker's form: 20260220T120000Z."""
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y%m%dT%H%M%SZ")


class Options(msgspec.Struct, frozen=True):
    """The settings with which a benchmark is built.

    `values`: the values of `--option`. `roles`: the roles for which a model is set. `data_dir`: the data
    directory. `sealed`: True unless the seal is turned off.
    """

    values: Mapping[str, str] = {}
    roles: frozenset[str] = frozenset()
    data_dir: Path = Path("data")
    sealed: bool = True

    def text(self, name: str, default: str = "") -> str:
        """Return the value of an option as text; `default` if it is not set."""
        return self.values.get(name, default)

    def integer(self, name: str, default: int, least: int = 0) -> int:
        """Return the value of an option as a whole number of at least `least`. Return `default` if it is not set.

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
        """Return the value of an option that accepts only `choices`. Return the first choice if it is not set.

        Raises:
            UserError: If the value is none of these words.
        """
        from benchwright.errors import UserError
        from benchwright.suggestions import did_you_mean

        given = self.values.get(name, choices[0])
        if given not in choices:
            known = ", ".join(choices)
            raise UserError(
                f"--option {name} is one of {known}, not {given!r}.{did_you_mean(given, choices)}"
            )
        return given
