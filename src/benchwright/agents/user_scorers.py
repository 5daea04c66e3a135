"""Scorers written by users: functions or objects, given directly, by `module:name`, or by an entry point."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from benchwright.agents.call_threads import CallThreads, is_async
from benchwright.agents.loading import describe_error
from benchwright.engine.protocols import JudgingScorer, Score, Scorer, Session
from benchwright.errors import GraderError, UserError
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint
from benchwright.runs.manifest import JudgeInfo
from benchwright.runs.source_fingerprints import (
    fingerprint_or_unique,
    source_fingerprint,
    user_source_fingerprint,
)
from benchwright.scorers.shared import NO_ANSWER, target_text

SCORER_ARGUMENT_NAMES = ("answer", "target", "row", "messages")
"""Names that the parameters of a user's scoring function may have.

The function is called with those arguments that are among its parameters.
"""

_THREADS = CallThreads()


def user_scorer(found: Any, path: str) -> Scorer:
    """Return the scorer for a user's object.

    The object is a `Scorer`, a class of scorers (instantiated without arguments), or a function.

    Raises:
        UserError: If the object is none of these, or cannot be created.
    """
    if isinstance(found, type):
        try:
            found = found()
        except Exception as failure:  # a user's constructor may raise anything
            raise UserError(f"Cannot create the scorer '{path}': {describe_error(failure)}") from failure
    if hasattr(found, "score"):
        return _checked(found, path)
    if callable(found):
        return FunctionScorer(found, path)
    raise UserError(f"The scorer '{path}' is a {type(found).__name__}: give a function or a Scorer.")


def _checked(scorer: Any, path: str) -> Scorer:
    for name, what in (
        ("name", "the name of its score"),
        ("fingerprint", "it changes whenever an answer could score differently"),
    ):
        if not isinstance(getattr(scorer, name, None), str):
            raise UserError(f"The scorer '{path}' has no `{name}`, a text: {what}.")
    if not is_async(scorer.score):
        raise UserError(
            f"`score` of the scorer '{path}' must be `async def score(self, sample, outcome, session)`."
        )
    source = user_source_fingerprint(scorer)
    if source is None:
        checked: Scorer = scorer
        return checked
    return (FingerprintedJudge if isinstance(scorer, JudgingScorer) else FingerprintedScorer)(scorer, source)


class FingerprintedScorer:
    """Wraps a user's scorer.

    The fingerprint combines the scorer's own fingerprint with a digest of the scorer's code.
    """

    def __init__(self, scorer: Any, source: str) -> None:
        self.name: str = scorer.name
        self.fingerprint = fingerprint("own scorer", scorer.fingerprint, source)
        self.needs_target = bool(getattr(scorer, "needs_target", False))
        self._scorer = scorer

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return the score that the user's scorer gives to an outcome."""
        score: Score = await self._scorer.score(sample, outcome, session)
        return score


class FingerprintedJudge(FingerprintedScorer):
    """A `FingerprintedScorer` for a scorer that asks a judge model."""

    @property
    def judging(self) -> JudgeInfo:
        """Description of the judge that the scorer asks."""
        judging: JudgeInfo = self._scorer.judging
        return judging


class FunctionScorer:
    """A user's function as a scorer.

    The function is called with the arguments named by its parameters (see `SCORER_ARGUMENT_NAMES`). It
    returns a number, True or False, a `Score`, or None if the answer contains nothing to compare. A plain
    function runs in a thread, off the event loop. An async function is awaited. The fingerprint covers the
    function's code (see `source_fingerprint`).

    Raises:
        UserError: If the function requires a parameter with another name.
    """

    def __init__(self, function: Callable[..., Any], path: str) -> None:
        self.name = path.rpartition(":")[2].rpartition(".")[2].strip("<>")
        self._function = function
        self._wanted = _wanted(function, path)
        self._is_async = is_async(function)
        source = fingerprint_or_unique(source_fingerprint(function))
        self.fingerprint = fingerprint("scorer function", self.name, source)

    @property
    def needs_target(self) -> bool:
        """True if every row must have a target."""
        return "target" in self._wanted

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Call the function, and return its result as a score.

        Raises:
            GraderError: If the function returned a value that is not a score.
            Exception: Any error raised by the function.
        """
        arguments = {name: _offered(name, sample, outcome) for name in self._wanted}
        if self._is_async:
            value = await self._function(**arguments)
        else:
            value = await _THREADS.call(self._function, arguments)
            if inspect.isawaitable(value):
                value = await value
        if isinstance(value, Score):
            return value
        if value is None:
            return NO_ANSWER
        try:
            return Score(float(value))
        except (TypeError, ValueError):
            raise GraderError(
                f"the scorer '{self.name}' returned {value!r}; it must return a number, a Score or None"
            ) from None


def _wanted(function: Callable[..., Any], path: str) -> list[str]:
    """Return the names of the offered arguments that the function accepts."""
    try:
        signature = inspect.signature(function)
        names = [name for name in SCORER_ARGUMENT_NAMES if name in signature.parameters]
        signature.bind(**dict.fromkeys(names))
    except (TypeError, ValueError) as error:
        raise UserError(
            f"The scorer '{path}' cannot be called: {error}. A scorer function takes any of "
            f"{', '.join(SCORER_ARGUMENT_NAMES)}."
        ) from None
    return names


def _offered(name: str, sample: Sample, outcome: Outcome) -> Any:
    match name:
        case "answer":
            return outcome.answer
        case "target":
            return target_text(sample)
        case "row":
            return dict(sample.content)
        case _:
            return list(outcome.messages)
