"""Finds the row of a trial by its key: 8 bytes a trial, and 12 more once an old one was asked for."""

from __future__ import annotations

from array import array
from bisect import bisect_left

from benchwright.runs.keys import key_prefix

LATELY = 16_384
"""Rows that are found without sorting: scores follow soon after their trial."""


class RowIndex:
    """Rows by the first 64 bits of their keys."""

    def __init__(self) -> None:
        self._keys = array("Q")
        self._late: dict[int, int] = {}
        self._later: dict[int, int] = {}
        self._sorted, self._order = array("Q"), array("I")

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: str) -> int:
        """Adds a key; returns its row."""
        prefix = key_prefix(key)
        row = len(self._keys)
        self._keys.append(prefix)
        if len(self._late) >= LATELY:
            self._later, self._late = self._late, {}
        self._late[prefix] = row
        return row

    def find(self, key: str) -> int | None:
        """The row of a key, None where there is none."""
        prefix = key_prefix(key)
        row = self._late.get(prefix)
        if row is None:
            row = self._later.get(prefix)
        return self._find_sorted(prefix) if row is None else row

    def _find_sorted(self, prefix: int) -> int | None:
        if len(self._sorted) < len(self._keys) - len(self._late) - len(self._later):
            self._sort()
        place = bisect_left(self._sorted, prefix)
        found = place < len(self._sorted) and self._sorted[place] == prefix
        return self._order[place] if found else None

    def _sort(self) -> None:
        import numpy as np

        keys = np.array(self._keys, np.uint64)
        order = np.argsort(keys, kind="stable")
        self._sorted, self._order = array("Q"), array("I")
        self._sorted.frombytes(keys[order].tobytes())
        self._order.frombytes(order.astype(np.uint32).tobytes())
