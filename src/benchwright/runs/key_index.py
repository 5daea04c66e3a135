"""Compact collections of keys, told apart by their first 64 bits: 8 or 16 bytes an entry, whatever there is."""

from __future__ import annotations

from array import array
from bisect import bisect_left

from benchwright.runs.keys import key_prefix


class KeySet:
    """A set of keys, filled before it is asked."""

    def __init__(self) -> None:
        self._keys = array("Q")
        self._sorted = True

    def add(self, key: str) -> None:
        """Adds a key."""
        self._keys.append(key_prefix(key))
        self._sorted = False

    def __contains__(self, key: str) -> bool:
        if not self._sorted:
            self.sort()
        prefix = key_prefix(key)
        place = bisect_left(self._keys, prefix)
        return place < len(self._keys) and self._keys[place] == prefix

    def sort(self) -> None:
        """Makes the set ready to be searched; else the first search does it."""
        if len(self._keys):
            import numpy

            numpy.frombuffer(self._keys, numpy.uint64).sort()
        self._sorted = True


class KeyIndex:
    """Maps keys to numbers (offsets); a key may have several, in the order of adding."""

    def __init__(self) -> None:
        self._keys = array("Q")
        self._values = array("Q")
        self._sorted = True

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: str, value: int) -> None:
        """Adds an entry."""
        self._keys.append(key_prefix(key))
        self._values.append(value)
        self._sorted = False

    def __contains__(self, key: str) -> bool:
        return bool(self.find(key))

    def find(self, key: str) -> list[int]:
        """The numbers of a key, oldest first; empty where there is none."""
        if not self._sorted:
            self.sort()
        prefix = key_prefix(key)
        place = bisect_left(self._keys, prefix)
        found = []
        while place < len(self._keys) and self._keys[place] == prefix:
            found.append(self._values[place])
            place += 1
        return found

    def sort(self) -> None:
        """Makes the index ready to be searched; else the first search does it."""
        if len(self._keys):
            import numpy

            keys = numpy.frombuffer(self._keys, numpy.uint64)
            values = numpy.frombuffer(self._values, numpy.uint64)
            order = keys.argsort(kind="stable")
            keys[:] = keys[order]
            values[:] = values[order]
        self._sorted = True
