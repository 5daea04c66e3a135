"""Eval functions as scorers of the engine. An eval function is a user's scoring function.

There are two forms, which osmosis_ai documents. The first parameter of a simple function is `solution_str`,
that of a full function is `messages`.
"""

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
from benchwright.runs.source_fingerprints import fingerprint_or_unique, source_fingerprint
from benchwright.scorers.shared import target_as_text

SIMPLE_KEYWORDS = ("solution_str", "ground_truth", "extra_info")
FULL_KEYWORDS = ("messages", "ground_truth", "metadata")
"""`SIMPLE_KEYWORDS`: keywords with which an eval function in the simple form is called.

`FULL_KEYWORDS`: keywords with which an eval function in the full form is called. The name of a function's
first parameter determines its form.
"""

_THREADS = CallThreads()


class EvalFnError(UserError):
    """Raised for an eval function that cannot be loaded or called, or whose result is not a score."""


class EvalFnWrapper:
    """An eval function of either form. Both forms can be called in the same way.

    A simple function gets the last assistant text, the target and a copy of the row. A full function gets all
    messages instead of the text. Plain functions run in a thread, off the event loop; async functions are
    awaited.

    Raises:
        EvalFnError: If the first parameter is neither `solution_str` nor `messages`, or if the function does
            not accept the keywords of its form.
    """

    def __init__(self, fn: Callable[..., Any], name: str) -> None:
        self.fn = fn
        self.name = name
        self.keywords = _keywords(fn, name)
        self._is_async = is_async(fn)

    async def __call__(
        self, messages: Sequence[Message], ground_truth: str, metadata: Mapping[str, Any]
    ) -> float:
        """Return the score of one conversation. `metadata`: the dataset row.

        Raises:
            EvalFnError: If the function returned neither int nor float.
            Exception: Any error raised by the function itself.
        """
        subject = final_answer(messages) if self.keywords is SIMPLE_KEYWORDS else list(messages)
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
    """An eval function as a scorer of the engine. If the function fails, only its score is missing (a grader error)."""

    def __init__(self, wrapper: EvalFnWrapper) -> None:
        self._wrapper = wrapper
        source = fingerprint_or_unique(source_fingerprint(wrapper.fn))
        function = getattr(wrapper.fn, "__qualname__", type(wrapper.fn).__qualname__)
        self._fingerprint = fingerprint("eval function", function, source)

    @property
    def name(self) -> str:
        """The path from which the function was loaded, or the name given to it."""
        return self._wrapper.name

    @property
    def fingerprint(self) -> str:
        """Digest of the function's name and code (see `source_fingerprint`)."""
        return self._fingerprint

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return the eval function's score of an outcome.

        The sample's content is the row with its `ground_truth`.
        """
        row = sample.content
        try:
            value = await self._wrapper(outcome.messages, target_as_text(row["ground_truth"]), row)
        except (Exception, SystemExit) as error:  # a user's function may raise anything
            what = str(error) if isinstance(error, EvalFnError) else f"{type(error).__name__}: {error}"
            raise GraderError(what) from error
        return Score(value)


def load_eval_fn(path: str) -> EvalFnWrapper:
    """Load the function named by `module:function`. The name of the eval function is this whole path.

    Raises:
        EvalFnError: If the function cannot be loaded, is not callable, or has neither of the two forms.
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
    """Load several eval functions, in order.

    Raises:
        EvalFnError: If a function cannot be loaded (see `load_eval_fn`), or if a path appears twice.
    """
    seen: set[str] = set()
    for path in paths:
        if path in seen:
            raise EvalFnError(f"Duplicate eval function path: '{path}'")
        seen.add(path)
    return [load_eval_fn(path) for path in paths]


def _keywords(fn: Callable[..., Any], name: str) -> tuple[str, str, str]:
    """Return the keywords with which the function is called: `SIMPLE_KEYWORDS` or `FULL_KEYWORDS`.

    The name of the function's first parameter determines which of the two.
    """
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError) as error:
        raise EvalFnError(f"Cannot read the parameters of eval function '{name}': {error}") from None
    first = next(iter(signature.parameters), None)
    if first is None:
        raise EvalFnError(f"Cannot detect eval function mode: '{name}' has no parameters. {_SHAPES}")
    for keywords in (SIMPLE_KEYWORDS, FULL_KEYWORDS):
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


_SHAPES = f"The first parameter must be named '{SIMPLE_KEYWORDS[0]}' (simple mode) or '{FULL_KEYWORDS[0]}' (full mode)."
