"""A side of a comparison (A, B, ...): facts about one run, and a few numbers for each of its trials."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchwright.records import Record
from benchwright.runs.columns import CodedNames
from benchwright.runs.counting_rules import ScoreState
from benchwright.runs.manifest_facts import model_with_agent
from benchwright.statistic import NoScore, Statistic
from benchwright.stats.arrays import count_distinct

SCORED, NO_ANSWER, ERROR = ScoreState.SCORED, ScoreState.NO_ANSWER, ScoreState.FAILED

MAX_ANSWER_LENGTH = 300
"""Maximum number of characters of an answer that is kept to show why a score changed."""

ExtractedAnswers = Callable[[str, set[int]], Mapping[int, str]]
"""Function (score name, positions of trials) that returns {position: extracted answer}.

Trials whose extracted answer is unknown are left out.
"""


class PromptAndTarget(NamedTuple):
    """The prompt of a trial and its expected answer. Each is None if unknown."""

    prompt: str | None
    target: str | None


class SideFacts(Record, frozen=True):
    """Facts about one side. A field is None if the run or file does not contain the fact.

    `data_digests`: digests of the data files. `has_ids`: True if a column of the data names the samples.
    `grader_fingerprints`: mapping from the name of a score to the fingerprint of its scorer. `agent`: the
    command-line agent that asked the model. `settings`: other settings that influence the answers.
    `source_program`: the program that made an imported run. `letter` identifies the side in records, `name`
    in sentences (see `names`).
    """

    reference: str
    source: str
    kind: str
    subject: str
    model: str
    variant: str | None = None
    protocol: str | None = None
    protocol_version: str | None = None
    data_digests: tuple[str, ...] | None = None
    has_ids: bool = False
    grader_fingerprints: Mapping[str, str] | None = None
    simulated: bool | None = None
    concurrency: int | None = None
    is_streamed: bool | None = None
    timings_valid: bool | None = None
    settings: Mapping[str, str] = {}
    run: str | None = None
    slot: str | None = None
    state: str | None = None
    agent: str = ""
    source_program: str | None = None
    letter: str = "A"
    name: str = "A"

    @property
    def title(self) -> str:
        """The side's model, followed by the agent that asked the model, if any."""
        return model_with_agent(self.model, self.agent)

    @property
    def task(self) -> str:
        """The task in a word or two, for messages."""
        name = self.subject if self.variant is None else f"{self.subject}:{self.variant}"
        return name if self.kind == "benchmark" else f"{self.kind} {name}".strip()


class SideScoreColumn(NamedTuple):
    """One score of all trials. `values` (n,): the values, 0 where there is none. `states` (n,): see `ScoreState`."""

    values: NDArray[np.float64]
    states: NDArray[np.uint8]

    def count(self, state: int) -> int:
        """Return the number of trials whose score has this state."""
        return int(np.count_nonzero(self.states == state))


class CodedTexts:
    """A text for each of n items, stored as integer codes.

    `codes` (n,): equal for equal texts; -1 for no text. `name`: function that returns the text of a code.
    """

    def __init__(self, codes: NDArray[Any], name: Callable[[int], str]) -> None:
        self.codes = codes
        self.name = name

    @classmethod
    def from_texts(cls, texts: Iterable[str | None]) -> CodedTexts:
        """Return these texts with codes. None and empty texts count as no text."""
        names = CodedNames()
        codes = np.fromiter((names.get_or_add_code(text) if text else -1 for text in texts), np.int64)
        return cls(codes, names.__getitem__)

    @classmethod
    def without_texts(cls, length: int) -> CodedTexts:
        """Return coded texts for `length` items, none of which has a text."""
        return cls(np.broadcast_to(np.int64(-1), length), str)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, place: int) -> str:
        code = int(self.codes[place])
        return "" if code < 0 else self.name(code)

    def __iter__(self) -> Iterator[str]:
        return (self[place] for place in range(len(self)))

    def count_distinct(self) -> int:
        """Return the number of distinct texts."""
        return count_distinct(self.codes[self.codes >= 0])

    def concatenate(self, others: CodedTexts) -> CodedTexts:
        """Return these texts followed by `others`, which must use the same codes."""
        return CodedTexts(np.concatenate([self.codes, others.codes]), self.name)


class SideTrials(NamedTuple):
    """The trials of a side, in a fixed order: parallel columns of length n.

    `groups`: the cluster of each trial's sample.
    """

    samples: CodedTexts
    repeats: NDArray[np.int64]
    groups: CodedTexts
    scores: Mapping[str, SideScoreColumn]


class LostWork(NamedTuple):
    """Time and tokens of trials that were cancelled before their end: parallel columns of length m."""

    samples: CodedTexts
    groups: CodedTexts
    seconds: NDArray[Any]
    prompt_tokens: NDArray[Any]
    completion_tokens: NDArray[Any]


class TrialUsage(NamedTuple):
    """Times and tokens of a side's trials: columns of length n, in the order of `SideTrials`.

    `seconds`: each trial's share of the time in which trials were in flight; None if unknown. `latency`: total
    latency of the answered requests of the last attempt. `ttft`: mean time to first token of these requests.
    Both are NaN if there are no such requests. Tokens count all attempts. `reused_mask`: True for trials copied from
    an earlier run, which took no time. `uncounted_requests`: number of answered `requests` without token counts.
    `unsettled_mask`: True for trials that made requests before the concurrency had settled, so that their times do
    not count. `timed_requests`: number of requests of the other trials.
    """

    seconds: NDArray[Any] | None
    prompt_tokens: NDArray[Any]
    completion_tokens: NDArray[Any]
    latency: NDArray[Any]
    ttft: NDArray[Any]
    reused_mask: NDArray[np.bool_]
    unsettled_mask: NDArray[np.bool_]
    lost_work: LostWork
    requests: int
    timed_requests: int
    uncounted_requests: int
    target_count: int = 1


class UsedSamples(NamedTuple):
    """The samples that were used, from the beginning of a random order, in a run that `--until` stopped early.

    `units`: the used units in their order. A unit is a single sample, or a cluster of samples that are used
    together. `planned_units`: number of planned units. `largest_unit_size`: number of samples in the largest
    unit.
    """

    units: list[list[str]]
    planned_units: int
    largest_unit_size: int


class Side(msgspec.Struct, frozen=True):
    """One target of one run in a comparison. `used_samples` is set if the run stopped early.

    `timings`: `ttft` and `latency` of every request, in seconds. `metrics`: mapping from names to further
    figures. `prompt_digests`: function that returns a digest of each trial's prompt; None if unknown.
    `question_digests`: function that returns a digest of the question within each prompt, because other
    programs may put other words around the question. `extracted_answers`, `labels` and `prompts_and_targets`:
    functions that read details on demand. `pass_threshold`: the lowest score that is right. `lower_is_better`:
    names of scores for which lower values are better. `failure_reasons`: function that returns the reasons why
    trials failed by a score, with counts, the most frequent first.
    """

    facts: SideFacts
    trials: SideTrials
    timings: Mapping[str, NDArray[Any]]
    metrics: Mapping[str, Statistic]
    extracted_answers: ExtractedAnswers
    prompt_digests: Callable[[], Sequence[str] | None]
    labels: Callable[[], Mapping[str, CodedTexts]] = dict
    usage: TrialUsage | None = None
    pass_threshold: float = 1.0
    used_samples: UsedSamples | None = None
    question_digests: Callable[[], Sequence[str] | None] = lambda: None
    prompts_and_targets: Callable[[set[int]], Mapping[int, PromptAndTarget]] | None = None
    lower_is_better: frozenset[str] = frozenset()
    failure_reasons: Callable[[str], Mapping[str, int]] = lambda score: {}

    def no_score(self, score: str) -> NoScore | None:
        """Return the reason why no trial has this score. None if at least one trial has it."""
        column = self.trials.scores[score]
        failed = column.count(ERROR)
        return NoScore(failed, dict(self.failure_reasons(score))) if failed == len(column.states) else None


class TrialsBuilder:
    """Collects trials one by one.

    If a score first occurs in a later trial, each earlier trial gets the state that was passed as its `absent`.
    """

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
        """Add a trial. `scores`: mapping from the name of a score to (value, state of the score).

        The value is None if the trial has no value; the state then shows why. `absent`: the trial's state for
        scores that are not in the mapping.
        """
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

    def build(self) -> SideTrials:
        """Return all trials that were added."""
        columns = {
            name: SideScoreColumn(np.array(values, np.float64), np.frombuffer(bytes(states), np.uint8))
            for name, (values, states) in self._columns.items()
        }
        repeats = np.array(self._repeats, np.int64)
        return SideTrials(
            CodedTexts.from_texts(self._samples), repeats, CodedTexts.from_texts(self._groups), columns
        )
