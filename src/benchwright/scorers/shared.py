"""Functions that several scorers share: reading a sample's target, and shortening answers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import msgspec

from benchwright.engine.protocols import Score
from benchwright.errors import GraderError
from benchwright.records import DECODE_ERRORS, Sample, Status
from benchwright.text import truncate

MAX_SPAN_LENGTH = 200
MAX_SEARCH_LENGTH = 100_000

NO_ANSWER = Score(None, Status.UNPARSED)
"""Score of an answer that contains nothing to compare: no value, and the status `unparsed`."""

_decode_texts = msgspec.json.Decoder(list[str]).decode


@runtime_checkable
class TargetChecker(Protocol):
    """A scorer that finds unusable targets (values of `ground_truth`) before the run sends its first request."""

    def wrong_target(self, content: Mapping[str, Any]) -> str | None:
        """Return the reason if the `ground_truth` in a sample's content is unusable. Return None if it is usable."""
        ...


def has_target(sample: Sample) -> bool:
    """Return True if the sample has a `ground_truth`."""
    return isinstance(sample.content, Mapping) and sample.content.get("ground_truth") is not None


def target_of(sample: Sample) -> Any:
    """Return the sample's `ground_truth`.

    Raises:
        GraderError: If the sample has no `ground_truth`.
    """
    content = sample.content
    target = content.get("ground_truth") if isinstance(content, Mapping) else None
    if target is None:
        raise GraderError(f"sample {sample.id} has no ground_truth")
    return target


def target_text(sample: Sample) -> str:
    """Return the sample's `ground_truth` as text. A value that is no text is written as JSON.

    Raises:
        GraderError: If the sample has no `ground_truth`.
    """
    return target_as_text(target_of(sample))


def target_as_text(target: Any) -> str:
    """Return a target as text. A value that is no text is written as JSON."""
    return target if isinstance(target, str) else msgspec.json.encode(target).decode()


def right_answers(target: Any) -> list[Any]:
    """Return the right answers in a target: the elements if the target is a list, else the target alone.

    An answer may equal any of them. A text that is a JSON array of texts, as in CSV files, counts as a list.
    Other texts in brackets do not: `[0, 1]` may be an interval.

    Raises:
        ValueError: If the list is empty or contains anything but texts, numbers and booleans.
    """
    if isinstance(target, str):
        if not target.lstrip().startswith('["'):
            return [target]
        try:
            target = _decode_texts(target)
        except DECODE_ERRORS:
            return [target]
    if not isinstance(target, list):
        return [target]
    if not target or not all(isinstance(one, (str, int, float)) and one != "" for one in target):
        raise ValueError(
            f"a list of right answers must hold texts or numbers, got {target_as_text(target)!r:.80}"
        )
    return target


def right_texts(sample: Sample) -> list[str]:
    """Return the right answers of a sample as texts.

    Raises:
        GraderError: If the sample has no target, or its target is not a valid list of answers.
    """
    try:
        return [target_as_text(one) for one in right_answers(target_of(sample))]
    except ValueError as error:
        raise GraderError(f"sample {sample.id}: {error}") from None


def target_list_problem(content: Mapping[str, Any]) -> str | None:
    """Return the reason if the target is an invalid list of right answers.

    Return None if the list is valid, or if the target is no list.
    """
    try:
        right_answers(content.get("ground_truth"))
    except ValueError as error:
        return str(error)
    return None


def shorten(text: str) -> str:
    """Shorten a piece of an answer to 200 characters, for the score's line in the journal."""
    return truncate(text, MAX_SPAN_LENGTH)


def __getattr__(name: str) -> Any:
    """Return `shorten` by its deprecated name `quoted`, for scorers written for version 0.1.

    Raises:
        AttributeError: If the name is another one that is not here.
    """
    if name != "quoted":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn("benchwright.scorers.shared.quoted is now shorten", DeprecationWarning, stacklevel=2)
    return shorten


def last_characters(text: str) -> str:
    """Return the last 100,000 characters of an answer. Searching a longer text would block the event loop too long."""
    return text[-MAX_SEARCH_LENGTH:]
