"""A side of a comparison: what was run, and a few numbers for each of its trials."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchwright.records import Record
from benchwright.runs.about import titled
from benchwright.runs.columns import Names
from benchwright.runs.counting import ScoreState
from benchwright.statistic import NoScore, Statistic
from benchwright.stats.arrays import count_distinct

SCORED, NO_ANSWER, ERROR = ScoreState.SCORED, ScoreState.NO_ANSWER, ScoreState.FAILED

LONGEST_ANSWER = 300
"""Characters of an answer that are kept as evidence."""

Evidence = Callable[[str, set[int]], Mapping[int, str]]
"""(score, positions of trials) -> the text of each that was taken as the answer, where it is known."""


class Asked(NamedTuple):
    """What a trial was asked, and the answer that was expected of it; None where it is not known."""

    prompt: str | None
    gold: str | None


class Facts(Record, frozen=True):
    """What is known of a side; None where the file does not say.

    `data` are the digests of the data, which `has_ids` where a column names their samples, `graders` those of the
    scorers by the name of their score, `agent` the command-line agent that asked the model, `settings` what else shapes
    the answers, `program` what made a run that was imported, `letter` what the side is called in records, `name` in
    sentences (see `names`).
    """

    reference: str
    source: str
    kind: str
    subject: str
    model: str
    variant: str | None = None
    protocol: str | None = None
    protocol_version: str | None = None
    data: tuple[str, ...] | None = None
    has_ids: bool = False
    graders: Mapping[str, str] | None = None
    simulated: bool | None = None
    concurrency: int | None = None
    stream: bool | None = None
    timings_valid: bool | None = None
    settings: Mapping[str, str] = {}
    run: str | None = None
    slot: str | None = None
    state: str | None = None
    agent: str = ""
    program: str | None = None
    letter: str = "A"
    name: str = "A"

    @property
    def title(self) -> str:
        """Its model, and the agent that asked it."""
        return titled(self.model, self.agent)

    @property
    def task(self) -> str:
        """What was run, in a word or two."""
        name = self.subject if self.variant is None else f"{self.subject}:{self.variant}"
        return name if self.kind == "benchmark" else f"{self.kind} {name}".strip()


class Column(NamedTuple):
    """One score of the trials: values (n,), 0 where there is none, and states (n,)."""

    values: NDArray[np.float64]
    states: NDArray[np.uint8]

    def count(self, state: int) -> int:
        """How many trials are in a state."""
        return int(np.count_nonzero(self.states == state))


class Labels:
    """A text for each of n things: `codes` (n,), -1 for none, equal where the texts are; `name` is a code's text."""

    def __init__(self, codes: NDArray[Any], name: Callable[[int], str]) -> None:
        self.codes = codes
        self.name = name

    @classmethod
    def of(cls, texts: Iterable[str | None]) -> Labels:
        """Numbers texts; None and empty ones are none."""
        names = Names()
        codes = np.fromiter((names.code(text) if text else -1 for text in texts), np.int64)
        return cls(codes, names.__getitem__)

    @classmethod
    def none(cls, length: int) -> Labels:
        """No text for any of so many things."""
        return cls(np.broadcast_to(np.int64(-1), length), str)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, place: int) -> str:
        code = int(self.codes[place])
        return "" if code < 0 else self.name(code)

    def __iter__(self) -> Iterator[str]:
        return (self[place] for place in range(len(self)))

    def distinct(self) -> int:
        """How many different texts there are."""
        return count_distinct(self.codes[self.codes >= 0])

    def followed_by(self, others: Labels) -> Labels:
        """These and then others, whose codes mean the same."""
        return Labels(np.concatenate([self.codes, others.codes]), self.name)


class Trials(NamedTuple):
    """The trials of a side, in an order that stays: parallel columns of length n."""

    samples: Labels
    repeats: NDArray[np.int64]
    groups: Labels
    scores: Mapping[str, Column]


class LostWork(NamedTuple):
    """Work of trials that came to no end (cancelled ones): parallel columns of length m."""

    samples: Labels
    groups: Labels
    seconds: NDArray[Any]
    prompt_tokens: NDArray[Any]
    completion_tokens: NDArray[Any]


class Effort(NamedTuple):
    """What the trials of a side took, all attempts together: parallel columns of length n, in the order of `Trials`.

    `seconds` is each trial's share of the time in which trials were under way; None where that is not known.
    `latency` is what the answered requests of the last attempt took together, `ttft` the mean of theirs, NaN where
    there are none; tokens are those of all attempts. `reused` trials took nothing: an earlier run made them.
    Of the `requests` that were answered, `uncounted` came without their number of tokens. `unsettled` trials asked
    before the concurrency had settled: their times do not count; `timed_requests` are those of the others.
    """

    seconds: NDArray[Any] | None
    prompt_tokens: NDArray[Any]
    completion_tokens: NDArray[Any]
    latency: NDArray[Any]
    ttft: NDArray[Any]
    reused: NDArray[np.bool_]
    unsettled: NDArray[np.bool_]
    lost: LostWork
    requests: int
    timed_requests: int
    uncounted: int
    targets: int = 1


class Prefix(NamedTuple):
    """The beginning of a random order of samples on which a run with a question (`--until`) stopped.

    `units` are samples, or groups of them, as they were taken in; there were `planned` of them, the
    `largest` of so many samples.
    """

    units: list[list[str]]
    planned: int
    largest: int


class Side(msgspec.Struct, frozen=True):
    """One run (of one target) under comparison; `prefix` is there where it stopped early.

    `timings` holds the seconds of `ttft` and `latency` of every request; `metrics` further figures by name.
    `contents` gives what each trial was asked, digested, None where that is not known; `questions` likewise the
    question within it, which other programs may have put into other words around it. A score of `pass_threshold`
    or more is right; of scores that are `lower_is_better` less is better. `reasons` tells why trials failed by a score,
    with counts, the most frequent first.
    """

    facts: Facts
    trials: Trials
    timings: Mapping[str, NDArray[Any]]
    metrics: Mapping[str, Statistic]
    evidence: Evidence
    contents: Callable[[], Sequence[str] | None]
    labels: Callable[[], Mapping[str, Labels]] = dict
    effort: Effort | None = None
    pass_threshold: float = 1.0
    prefix: Prefix | None = None
    questions: Callable[[], Sequence[str] | None] = lambda: None
    asked: Callable[[set[int]], Mapping[int, Asked]] | None = None
    lower_is_better: frozenset[str] = frozenset()
    reasons: Callable[[str], Mapping[str, int]] = lambda score: {}

    def no_score(self, score: str) -> NoScore | None:
        """Return why no trial has this score; None if one has."""
        column = self.trials.scores[score]
        failed = column.count(ERROR)
        return NoScore(failed, dict(self.reasons(score))) if failed == len(column.states) else None


class TrialsBuilder:
    """Collects trials one by one; a score that is first met late is `absent` in the trials before."""

    def __init__(self, scores: Iterable[str] = ()) -> None:
        self._samples: list[str] = []
        self._repeats = array("q")
        self._groups: list[str | None] = []
        self._absent = bytearray()
        self._columns: dict[str, tuple[array[float], bytearray]] = {
            name: (array("d"), bytearray()) for name in scores
        }

    def add(
        self,
        sample: str,
        repeat: int,
        group: str | None,
        absent: int,
        scores: Mapping[str, tuple[float | None, int]],
    ) -> None:
        """Takes a trial in: its scores as (value, state of a trial without one); those not named are `absent`."""
        for name in scores:
            if name not in self._columns:
                self._columns[name] = (array("d", bytes(8 * len(self._samples))), bytearray(self._absent))
        for name, (values, states) in self._columns.items():
            value, without = scores.get(name, (None, absent))
            known = value is not None and math.isfinite(value)
            values.append(value if known and value is not None else 0.0)
            states.append(SCORED if known else without if value is None else ERROR)
        self._samples.append(sample)
        self._repeats.append(repeat)
        self._groups.append(group)
        self._absent.append(absent)

    def trials(self) -> Trials:
        """All that was added."""
        columns = {
            name: Column(np.array(values, np.float64), np.frombuffer(bytes(states), np.uint8))
            for name, (values, states) in self._columns.items()
        }
        repeats = np.array(self._repeats, np.int64)
        return Trials(Labels.of(self._samples), repeats, Labels.of(self._groups), columns)
