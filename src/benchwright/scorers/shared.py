"""What the scorers have in common: where the target is, and how much of an answer a score quotes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from benchwright.engine.protocols import Score
from benchwright.errors import GraderError
from benchwright.records import Sample, Status
from benchwright.text import shortened

LONGEST_SPAN = 200
LONGEST_SEARCH = 100_000

NO_ANSWER = Score(None, Status.UNPARSED)
"""The score of an answer in which the scorer found nothing to compare."""


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
    target = target_of(sample)
    return target if isinstance(target, str) else msgspec.json.encode(target).decode()


def quoted(text: str) -> str:
    """A piece of an answer, short enough for the journal's light line: at most 200 characters."""
    return shortened(text, LONGEST_SPAN)


def tail(text: str) -> str:
    """What is searched of an answer: its last 100,000 characters, so that no answer holds the loop up."""
    return text[-LONGEST_SEARCH:]
