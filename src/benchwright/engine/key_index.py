"""A compact map from keys to numbers: 16 bytes an entry, whatever there is."""

from __future__ import annotations

from array import array
from bisect import bisect_left

from benchwright.engine.keys import key_prefix


class KeyIndex:
    """Maps the first 64 bits of keys to numbers (offsets); a key may have several, in the order of adding."""

    def __init__(self) -> None:
        self._keys = array("Q")
        self._values = array("Q")
        self._sorted = True

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: str, value: int = 0) -> None:
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
        if not len(self._keys):
            return
        import numpy

        keys = numpy.frombuffer(self._keys, numpy.uint64)
        order = keys.argsort(kind="stable")
        values = numpy.frombuffer(self._values, numpy.uint64)[order].tobytes()
        self._keys, self._values = array("Q", keys[order].tobytes()), array("Q", values)
        self._sorted = True
