"""Grading: a benchmark's rule as a plain function, and the scorer that the engine asks."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from benchwright.engine.offload import offload
from benchwright.engine.protocols import Score, Session
from benchwright.records import Outcome, Record, Sample, Status
from benchwright.runs.keys import fingerprint


class Verdict(Record, frozen=True):
    """What a grader says of one answer.

    `score` lies between 0 and 1; None means that no answer was found, which counts as 0 in the documented
    numbers. `correct` is whether it counts as solved, by default a score of 1. `predicted` is the answer as
    it was understood, `expected` the right one; `details` are the documented keys and more.
    `explanation` says why, where more is to be said than what was predicted and expected.
    """

    score: float | None
    predicted: str | None = None
    expected: Any = None
    correct: bool | None = None
    details: Mapping[str, Any] = {}
    explanation: str | None = None

    @property
    def is_correct(self) -> bool:
        """Whether the answer counts as solved."""
        return self.score == 1.0 if self.correct is None else self.correct


Grade = Callable[[Any, str], Verdict]
"""(the sample's content, the answer) -> the verdict. Pure, and quick unless it is offloaded."""

NOTES = "notes"
"""The artifact of an outcome in which a solver notes what belongs into the details of its scores."""


def address(grade: Callable[..., Verdict]) -> str:
    """Where a function is defined; of a partial, where its function is."""
    function = grade.func if isinstance(grade, partial) else grade
    return f"{function.__module__}.{function.__qualname__}"


class GradeScorer:
    """A scorer that applies a plain function to the answer; the solver's notes join the details.

    `version` is raised whenever the function would say something else, and tells the arguments of a partial. One
    that takes long is `offloaded`: it runs in a process of its own, so that the event loop is never held up, and
    is given only these parts of the content; it must then be a function of a module, or a partial of one. `prepare`
    imports what it needs. An answer on which it needs more than `seconds` of CPU time, or more memory than there is,
    also when it is tried again alone, counts as wrong: nobody gains by it. Whatever else goes wrong is an error of the
    grader.
    """

    def __init__(
        self,
        name: str,
        version: str,
        grade: Grade,
        *,
        offloaded: Sequence[str] = (),
        seconds: float | None = None,
        prepare: Callable[[], object] | None = None,
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint("grade", name, version, address(grade))
        self._grade = grade
        self._offloaded = offloaded
        self._seconds = seconds
        self._prepare = prepare

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Applies the function to the outcome's answer."""
        if self._offloaded:
            content = {name: sample.content[name] for name in self._offloaded}
            verdict = await self._elsewhere(content, outcome.answer)
        else:
            verdict = self._grade(sample.content, outcome.answer)
        notes = outcome.artifacts.get(NOTES)
        if notes:
            verdict = msgspec.structs.replace(verdict, details={**verdict.details, **notes})
        return verdict_score(verdict)

    async def _elsewhere(self, content: Mapping[str, Any], answer: str) -> Verdict:
        try:
            return await offload(self._grade, content, answer, seconds=self._seconds, prepare=self._prepare)
        except (TimeoutError, MemoryError) as error:
            limit = (
                "the memory there is"
                if isinstance(error, MemoryError)
                else f"{self._seconds:g} s of CPU time"
            )
            return Verdict(
                0.0, explanation=f"Grading this answer needs more than {limit}, so it counts as wrong."
            )


def verdict_score(verdict: Verdict) -> Score:
    """A verdict as the engine keeps it; `detail` holds `correct`, `expected` and the details."""
    detail = {"correct": verdict.is_correct, "expected": verdict.expected, **verdict.details}
    status = Status.UNPARSED if verdict.score is None else Status.SCORED
    return Score(verdict.score, status, verdict.predicted, detail, verdict.explanation)


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The last of the matches that do not overlap, in one pass; None without any."""
    matches = deque(pattern.finditer(text), maxlen=1)
    return matches[0] if matches else None
