"""Flags: signs that a result may have been got without solving the task. A flag explains; it never sets a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.records import Record

FLAGS = "flags"
"""The name under which flags lie in the artifacts of an outcome and in the details of a score."""


class Flag(Record, frozen=True):
    """One sign: its kind, as one lower-case word or several joined by `_`, and the evidence in plain words."""

    kind: str
    evidence: str


def flags_in(detail: Mapping[str, Any] | None) -> list[Flag]:
    """The flags in the details of a score; what is not of their shape is passed over."""
    found = (detail or {}).get(FLAGS)
    if not isinstance(found, Sequence) or isinstance(found, str):
        return []
    shaped = (one for one in found if isinstance(one, Mapping) and isinstance(one.get("kind"), str))
    return [Flag(one["kind"], str(one.get("evidence") or "")) for one in shaped]


class FlaggedTrials:
    """The trials of a table that have flags, by row: the kinds of each, as its scorers tell them."""

    def __init__(self) -> None:
        self._kinds: dict[int, dict[str, tuple[str, ...]]] = {}

    def put(self, row: int, scorer: str, detail: Mapping[str, Any] | None) -> None:
        """Takes in what one score says, in place of what it said before."""
        kinds = tuple(dict.fromkeys(flag.kind for flag in flags_in(detail)))
        if kinds:
            self._kinds.setdefault(row, {})[scorer] = kinds
        elif row in self._kinds:
            self._kinds[row].pop(scorer, None)

    def forget(self, row: int) -> None:
        """Another attempt at the trial counts now."""
        self._kinds.pop(row, None)

    def kinds(self, row: int) -> list[str]:
        """The kinds of a trial's flags, each once."""
        return list(dict.fromkeys(kind for kinds in self._kinds.get(row, {}).values() for kind in kinds))

    def rows(self) -> list[int]:
        """The rows of the flagged trials."""
        return sorted(row for row, by_scorer in self._kinds.items() if by_scorer)
