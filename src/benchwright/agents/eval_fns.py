"""Eval functions: a user's own scoring functions, in the two documented shapes, as scorers of the engine."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchwright.agents.call_threads import CallThreads, is_async
from benchwright.agents.loading import load_object
from benchwright.engine.answers import final_answer
from benchwright.engine.protocols import Score, Session
from benchwright.errors import GraderError, UserError
from benchwright.records import Message, Outcome, Sample
from benchwright.runs.keys import fingerprint
from benchwright.runs.sources import known_or_unique, source_fingerprint
from benchwright.scorers.shared import as_text

SIMPLE = ("solution_str", "ground_truth", "extra_info")
FULL = ("messages", "ground_truth", "metadata")
"""The keywords that an eval function is called with; its first parameter says which of the two."""

_THREADS = CallThreads()


class EvalFnError(UserError):
    """An eval function cannot be loaded or called, or its result is not a score."""


class EvalFnWrapper:
    """Calls an eval function in one way, whichever shape it has.

    Simple functions get the last assistant text, the target and a copy of the row; full ones get all
    messages instead. Plain functions run in a thread, off the event loop; async ones are awaited.

    Raises:
        EvalFnError: the first parameter is neither `solution_str` nor `messages`, or the function cannot
            take the keywords of its shape.
    """

    def __init__(self, fn: Callable[..., Any], name: str) -> None:
        self.fn = fn
        self.name = name
        self.keywords = _keywords(fn, name)
        self._is_async = is_async(fn)

    async def __call__(
        self, messages: Sequence[Message], ground_truth: str, metadata: Mapping[str, Any]
    ) -> float:
        """The score of one conversation; `metadata` is the row of the dataset.

        Raises:
            EvalFnError: the function returned something that is neither int nor float.
            Exception: whatever the function itself raises.
        """
        subject = final_answer(messages) if self.keywords is SIMPLE else list(messages)
        arguments = dict(zip(self.keywords, (subject, ground_truth, dict(metadata)), strict=True))
        score = self.fn(**arguments) if self._is_async else await _THREADS.call(self.fn, arguments)
        if inspect.isawaitable(score):
            score = await score
        if not isinstance(score, int | float):
            raise EvalFnError(
                f"Eval function '{self.name}' must return a number, but it returned {type(score).__name__}"
            )
        return float(score)


class EvalFnScorer:
    """An eval function as a scorer of the engine; what it raises is a grader error of this one score."""

    def __init__(self, wrapper: EvalFnWrapper) -> None:
        self._wrapper = wrapper
        source = known_or_unique(source_fingerprint(wrapper.fn))
        function = getattr(wrapper.fn, "__qualname__", type(wrapper.fn).__qualname__)
        self._fingerprint = fingerprint("eval function", function, source)

    @property
    def name(self) -> str:
        """The path that the function was loaded from, or the name it was given."""
        return self._wrapper.name

    @property
    def fingerprint(self) -> str:
        """Changes with the function's name and with its code (see `source_fingerprint`), wherever that lies."""
        return self._fingerprint

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Scores one outcome; the sample's content is the row with its `ground_truth`."""
        row = sample.content
        try:
            value = await self._wrapper(outcome.messages, as_text(row["ground_truth"]), row)
        except (Exception, SystemExit) as error:  # a user's function raises what it likes
            what = str(error) if isinstance(error, EvalFnError) else f"{type(error).__name__}: {error}"
            raise GraderError(what) from error
        return Score(value)


def load_eval_fn(path: str) -> EvalFnWrapper:
    """Loads the function that `module:function` names; its name is the whole path.

    Raises:
        EvalFnError: it cannot be loaded, is not callable, or has neither of the two shapes.
    """
    fn = load_object(
        path,
        kind="eval function",
        form="module:function",
        example="rewards:compute_reward",
        error=EvalFnError,
    )
    if not callable(fn):
        raise EvalFnError(f"'{path}' is not callable: it is a {type(fn).__name__}")
    return EvalFnWrapper(fn, path)


def load_eval_fns(paths: Sequence[str]) -> list[EvalFnWrapper]:
    """Loads several eval functions, in order.

    Raises:
        EvalFnError: see `load_eval_fn`; also when a path is there twice.
    """
    seen: set[str] = set()
    for path in paths:
        if path in seen:
            raise EvalFnError(f"Duplicate eval function path: '{path}'")
        seen.add(path)
    return [load_eval_fn(path) for path in paths]


def _keywords(fn: Callable[..., Any], name: str) -> tuple[str, str, str]:
    """The keywords of the function's shape."""
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError) as error:
        raise EvalFnError(f"Cannot read the parameters of eval function '{name}': {error}") from None
    first = next(iter(signature.parameters), None)
    if first is None:
        raise EvalFnError(f"Cannot detect eval function mode: '{name}' has no parameters. {_SHAPES}")
    for keywords in (SIMPLE, FULL):
        if first == keywords[0]:
            break
    else:
        raise EvalFnError(f"Cannot detect eval function mode: first parameter is '{first}'. {_SHAPES}")
    try:
        signature.bind(**dict.fromkeys(keywords))
    except TypeError as error:
        raise EvalFnError(
            f"Eval function '{name}' cannot be called with {', '.join(keywords)}: {error}"
        ) from None
    return keywords


_SHAPES = f"The first parameter must be named '{SIMPLE[0]}' (simple mode) or '{FULL[0]}' (full mode)."
