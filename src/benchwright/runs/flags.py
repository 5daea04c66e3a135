"""Flags: signs that a trial may have been passed without solving its task. A flag never changes a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.records import Record

FLAGS_KEY = "flags"
"""The key of the flags in the artifacts of an outcome, and in the details of a score."""


class Flag(Record, frozen=True):
    """A sign that a trial may have been passed without solving its task.

    `kind`: one or more lower-case words joined by `_`. `evidence`: the reason, in plain words.
    """

    kind: str
    evidence: str


def flags_in(detail: Mapping[str, Any] | None) -> list[Flag]:
    """Return the flags in the details of a score. Entries of another shape are ignored."""
    found = (detail or {}).get(FLAGS_KEY)
    if not isinstance(found, Sequence) or isinstance(found, str):
        return []
    shaped = (one for one in found if isinstance(one, Mapping) and isinstance(one.get("kind"), str))
    return [Flag(one["kind"], str(one.get("evidence") or "")) for one in shaped]


class FlaggedTrials:
    """The flagged trials of a run's table. For each row, it has the kinds of flags that each scorer reported."""

    def __init__(self) -> None:
        self._kinds: dict[int, dict[str, tuple[str, ...]]] = {}

    def set_flags(self, row: int, scorer: str, detail: Mapping[str, Any] | None) -> None:
        """Store the flags in the details of a score. They replace flags that the same scorer reported before."""
        kinds = tuple(dict.fromkeys(flag.kind for flag in flags_in(detail)))
        if kinds:
            self._kinds.setdefault(row, {})[scorer] = kinds
        elif row in self._kinds:
            self._kinds[row].pop(scorer, None)

    def remove_flags(self, row: int) -> None:
        """Drop the flags of a trial because a newer attempt has replaced it."""
        self._kinds.pop(row, None)

    def flag_kinds(self, row: int) -> list[str]:
        """Return the kinds of a trial's flags, each once."""
        return list(dict.fromkeys(kind for kinds in self._kinds.get(row, {}).values() for kind in kinds))

    def flagged_rows(self) -> list[int]:
        """Return the rows of the flagged trials, in order."""
        return sorted(row for row, by_scorer in self._kinds.items() if by_scorer)
