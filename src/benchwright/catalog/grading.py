"""`GradeScorer`, which makes a scorer of a plain grading function, and `Verdict`, which that function returns."""

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
    """A grader's judgement of one answer.

    - `score`: from 0 to 1. None if no answer was found. In the mean score, None counts as 0.
    - `correct`: True if the answer counts as solved. None means that it is solved if the score is 1.
    - `predicted`: the answer as the grader understood it. `expected`: the right answer.
    - `details`: further facts for the details of the score, by name.
    - `explanation`: the reason for the score, if `predicted` and `expected` do not show it.
    """

    score: float | None
    predicted: str | None = None
    expected: Any = None
    correct: bool | None = None
    details: Mapping[str, Any] = {}
    explanation: str | None = None

    @property
    def is_correct(self) -> bool:
        """True if the answer counts as solved."""
        return self.score == 1.0 if self.correct is None else self.correct


Grade = Callable[[Any, str], Verdict]
"""A grading function: takes the sample's content and the answer, and returns the verdict.

It has no side effects. It is quick, unless the scorer offloads it.
"""

NOTES_ARTIFACT = "notes"
"""Key of the outcome's artifact in which a solver puts notes for the details of the scores."""


def function_address(grade: Callable[..., Verdict]) -> str:
    """Return the module and the qualified name of a function.

    For a partial, return those of the function that it wraps.
    """
    function = grade.func if isinstance(grade, partial) else grade
    return f"{function.__module__}.{function.__qualname__}"


class GradeScorer:
    """A scorer that applies the plain function `grade` to a sample's content and the answer.

    Facts that the solver recorded as notes in the outcome are added to the score's details.

    - `version`: must change whenever verdicts change, and must include the arguments of a partial.
    - `offloaded`: for a slow function, the keys of the content that the function needs. The function then
      runs in a separate process, so that the event loop is never blocked. It must be a module-level function,
      or a partial of one.
    - `prepare`: imports the modules that the function needs.
    - `seconds`: limit of CPU time per answer. An answer that exceeds this limit or the available memory is
      graded again, while no other answer is graded. If it exceeds a limit again, it counts as wrong, so that
      such answers gain nothing.

    Any other failure of the function is a grader error.
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
        self.fingerprint = fingerprint("grade", name, version, function_address(grade))
        self._grade = grade
        self._offloaded = offloaded
        self._seconds = seconds
        self._prepare = prepare

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Grade the outcome's answer."""
        if self._offloaded:
            content = {name: sample.content[name] for name in self._offloaded}
            verdict = await self._elsewhere(content, outcome.answer)
        else:
            verdict = self._grade(sample.content, outcome.answer)
        notes = outcome.artifacts.get(NOTES_ARTIFACT)
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
    """Convert a verdict to the engine's score.

    The score's `detail` contains `correct`, `expected` and the verdict's details.
    """
    detail = {"correct": verdict.is_correct, "expected": verdict.expected, **verdict.details}
    status = Status.UNPARSED if verdict.score is None else Status.SCORED
    return Score(verdict.score, status, verdict.predicted, detail, verdict.explanation)


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last of a pattern's matches in a text, found in one pass. Return None if there is no match."""
    matches = deque(pattern.finditer(text), maxlen=1)
    return matches[0] if matches else None
