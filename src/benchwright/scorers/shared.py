"""What the scorers have in common: where the target is, and how much of an answer a score quotes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import msgspec

from benchwright.engine.protocols import Score
from benchwright.errors import GraderError
from benchwright.records import UNREADABLE, Sample, Status
from benchwright.text import shortened

LONGEST_SPAN = 200
LONGEST_SEARCH = 100_000

NO_ANSWER = Score(None, Status.UNPARSED)
"""The score of an answer in which the scorer found nothing to compare."""

_decode_texts = msgspec.json.Decoder(list[str]).decode


@runtime_checkable
class TargetChecker(Protocol):
    """A scorer that can say before the first request which targets it cannot compare anything with."""

    def wrong_target(self, content: Mapping[str, Any]) -> str | None:
        """Return what is wrong with the `ground_truth` of a sample's content; None if nothing is."""
        ...


def has_target(sample: Sample) -> bool:
    """Whether the sample has a `ground_truth`."""
    return isinstance(sample.content, Mapping) and sample.content.get("ground_truth") is not None


def target_of(sample: Sample) -> Any:
    """The sample's `ground_truth`.

    Raises:
        GraderError: it has none.
    """
    content = sample.content
    target = content.get("ground_truth") if isinstance(content, Mapping) else None
    if target is None:
        raise GraderError(f"sample {sample.id} has no ground_truth")
    return target


def target_text(sample: Sample) -> str:
    """The sample's `ground_truth` as text; what is not text, as JSON.

    Raises:
        GraderError: it has none.
    """
    return as_text(target_of(sample))


def as_text(target: Any) -> str:
    """Return a target as text; what is not text, as JSON."""
    return target if isinstance(target, str) else msgspec.json.encode(target).decode()


def right_answers(target: Any) -> list[Any]:
    """Return the answers of which any is right: the elements of a list, or the target alone.

    A text that is a JSON array of texts is such a list, too, as in CSV files. Other texts in brackets are not: `[0, 1]`
    may be an interval.

    Raises:
        ValueError: If the list is empty or holds something else than texts, numbers and true or false.
    """
    if isinstance(target, str):
        if not target.lstrip().startswith('["'):
            return [target]
        try:
            target = _decode_texts(target)
        except UNREADABLE:
            return [target]
    if not isinstance(target, list):
        return [target]
    if not target or not all(isinstance(one, (str, int, float)) and one != "" for one in target):
        raise ValueError(f"a list of right answers must hold texts or numbers, got {as_text(target)!r:.80}")
    return target


def right_texts(sample: Sample) -> list[str]:
    """The answers of which any is right, as texts.

    Raises:
        GraderError: If the sample has no target, or one that is no answer.
    """
    try:
        return [as_text(one) for one in right_answers(target_of(sample))]
    except ValueError as error:
        raise GraderError(f"sample {sample.id}: {error}") from None


def wrong_list(content: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a target that is a list; None if nothing is."""
    try:
        right_answers(content.get("ground_truth"))
    except ValueError as error:
        return str(error)
    return None


def quoted(text: str) -> str:
    """A piece of an answer, short enough for the journal's light line: at most 200 characters."""
    return shortened(text, LONGEST_SPAN)


def tail(text: str) -> str:
    """What is searched of an answer: its last 100,000 characters, so that no answer holds the loop up."""
    return text[-LONGEST_SEARCH:]
