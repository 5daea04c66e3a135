"""A statistic that may not exist: a mean, an end of an interval, a pass@k, a difference, a rate.

    0.685      the number
    NoScore    no score, because nothing was scored: how many trials failed, and why
    None       not known: one sample has no interval, another program's log lacks a column

Only a number can be formatted, compared, added or written as one; mypy and Python reject the other two alike.
In JSON documents both are null, and a `NoScore` is written beside them as `no_score` (see
`analysis.documents`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn, TypeGuard

import msgspec

STATISTIC_TAG = "statistic"


class NoScore(msgspec.Struct, frozen=True, omit_defaults=True, tag_field=STATISTIC_TAG, tag="no score"):
    """States that there is no score because all finished trials failed.

    `failed`: number of failed trials; 0 if no trial is finished. `reasons`: the most frequent reasons for failures with
    their counts, in descending order; empty if the trials have not been scored.
    """

    failed: int
    reasons: dict[str, int] = {}

    def __str__(self) -> str:
        if not self.failed or not self.reasons:
            return self.brief
        reason, count = next(iter(self.reasons.items()))
        some = "" if count >= self.failed else f", {count:,} of them"
        return f"{self.brief.removesuffix(')')}{some}: {reason})"

    @property
    def brief(self) -> str:
        """Short text that says that there is no score, without the reasons."""
        if not self.failed:
            return "no score (no trial is finished)"
        told = (
            f"{self.failed:,} of {self.failed:,} failed"
            if self.reasons
            else f"none of {self.failed:,} was scored"
        )
        return f"no score ({told})"

    def __bool__(self) -> NoReturn:
        raise TypeError("a score that does not exist is neither true nor false: ask whether it is a NoScore")


Statistic = float | NoScore | None
"""Type: a number, no score, or not known (None)."""


def is_number(value: Statistic) -> TypeGuard[float]:
    """Return True if a statistic is a number."""
    return isinstance(value, float | int)


def numeric_statistics(values: Iterable[Statistic]) -> list[float]:
    """Return the statistics that are numbers."""
    return [value for value in values if is_number(value)]


def is_no_score(value: Any) -> bool:
    """Return True if the value is a `NoScore` as msgspec encodes it: a dictionary with the tag of that class."""
    return isinstance(value, dict) and value.get(STATISTIC_TAG) == "no score"
