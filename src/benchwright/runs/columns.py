"""Columns that grow: as few bytes an entry as their content needs."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from benchwright.runs.counting import Standing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTHS = "BHIQ"
MOST_DISTINCT = 250
"""Values of a score that are told apart by one byte; with more of them each takes eight."""


class IntColumn:
    """Whole numbers from 0: no memory while all are equal, then as many bytes each as the largest needs."""

    def __init__(self) -> None:
        self._same = 0
        self._length = 0
        self._values: array[int] | None = None

    def __len__(self) -> int:
        return self._length if self._values is None else len(self._values)

    def append(self, value: int) -> None:
        """Adds a number."""
        if self._values is None:
            if value == self._same or not self._length:
                self._same = value
                self._length += 1
                return
            self._spread(value)
        self._put(None, value)

    def __getitem__(self, place: int) -> int:
        return self._same if self._values is None else self._values[place]

    def __setitem__(self, place: int, value: int) -> None:
        if self._values is None:
            if value == self._same:
                return
            self._spread(value)
        self._put(place, value)

    def _spread(self, value: int) -> None:
        width = next(code for code in WIDTHS if max(self._same, value) < 1 << 8 * array(code).itemsize)
        self._values = array(width, [self._same]) * self._length

    def _put(self, place: int | None, value: int) -> None:
        assert self._values is not None
        while True:
            try:
                if place is None:
                    self._values.append(value)
                else:
                    self._values[place] = value
                return
            except OverflowError:
                self._values = array(WIDTHS[WIDTHS.index(self._values.typecode) + 1], self._values)

    def numbers(self) -> NDArray[np.int64]:
        """All of them, copied, (n,)."""
        import numpy as np

        if self._values is None:
            return np.full(self._length, self._same, np.int64)
        return np.array(self._values, np.int64)

    def equal(self, value: int) -> NDArray[np.bool_]:
        """Which of them are this number, (n,)."""
        import numpy as np

        if self._values is None:
            return np.full(self._length, self._same == value)
        found: NDArray[np.bool_] = np.frombuffer(self._values, self._values.typecode) == value
        return found


class Names:
    """Texts by number, each kept once."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: list[str] = list(names)
        self._codes = {name: code for code, name in enumerate(self.names)}

    def code(self, name: str) -> int:
        """The number of a name, a new one where it is new."""
        code = self._codes.setdefault(name, len(self.names))
        if code == len(self.names):
            self.names.append(name)
        return code

    def find(self, name: str) -> int | None:
        """The number of a name that is known."""
        return self._codes.get(name)

    def __getitem__(self, code: int) -> str:
        return self.names[code]

    def __len__(self) -> int:
        return len(self.names)


class SampleColumn:
    """The ids of samples, one a trial. Ids that are row numbers take as many bytes as the number needs.

    Even numbers stand for row numbers, odd ones for other names.
    """

    def __init__(self) -> None:
        self._codes = IntColumn()
        self._names = Names()

    def __len__(self) -> int:
        return len(self._codes)

    def append(self, sample: str) -> None:
        """Adds an id."""
        self._codes.append(self._code(sample))

    def _code(self, sample: str) -> int:
        if (
            sample.isascii()
            and sample.isdecimal()
            and (sample[0] != "0" or sample == "0")
            and len(sample) < 18
        ):
            return 2 * int(sample)
        return 2 * self._names.code(sample) + 1

    def __getitem__(self, place: int) -> str:
        return self.name(self._codes[place])

    def __iter__(self) -> Iterator[str]:
        return (self[place] for place in range(len(self)))

    def name(self, code: int) -> str:
        """The id that a number stands for."""
        return self._names[code >> 1] if code & 1 else str(code >> 1)

    def code(self, sample: str) -> int | None:
        """The number of an id, None where no name is like it."""
        if self._names.find(sample) is not None or not sample.isdecimal():
            found = self._names.find(sample)
            return None if found is None else 2 * found + 1
        return self._code(sample)

    def numbers(self) -> NDArray[np.int64]:
        """The number of each trial's sample, (n,): equal where the samples are."""
        return self._codes.numbers()

    def places(self, sample: str) -> list[int]:
        """Where an id stands."""
        code = self.code(sample)
        if code is None:
            return []
        import numpy as np

        found: list[int] = np.flatnonzero(self._codes.equal(code)).tolist()
        return found


class ScoreColumn:
    """One score of every trial: its standing, and the value where there is one.

    The first three codes are the standings without a value (and `SCORED`, which none has); the others are distinct
    values. Where there are too many of these, values are kept as they are.
    """

    def __init__(self, length: int = 0) -> None:
        self._codes = bytearray(length)
        self._distinct: dict[float, int] = {}
        self._values: array[float] | None = None
        self._codes[:] = bytes([Standing.FAILED]) * length

    def __len__(self) -> int:
        return len(self._codes)

    def append(self, standing: Standing) -> None:
        """Adds a trial without a value."""
        self._codes.append(standing)
        if self._values is not None:
            self._values.append(0.0)

    def put(self, place: int, standing: Standing, value: float = 0.0) -> None:
        """Sets what a trial is worth."""
        if standing is not Standing.SCORED:
            self._codes[place] = standing
            return
        if self._values is None:
            code = self._distinct.setdefault(value, len(self._distinct) + len(Standing))
            if code < MOST_DISTINCT:
                self._codes[place] = code
                return
            self._keep_values()
        assert self._values is not None
        self._codes[place] = Standing.SCORED
        self._values[place] = value

    def _keep_values(self) -> None:
        values = [0.0] * len(Standing) + list(self._distinct)
        self._values = array("d", (values[code] for code in self._codes))
        self._codes = bytearray(code if code < len(Standing) else Standing.SCORED for code in self._codes)
        self._distinct = {}

    def value(self, place: int) -> float | None:
        """The value of a trial, None without one."""
        code = self._codes[place]
        if self._values is not None:
            return self._values[place] if code == Standing.SCORED else None
        return list(self._distinct)[code - len(Standing)] if code >= len(Standing) else None

    def standings(self) -> NDArray[np.uint8]:
        """The `Standing` of each trial, (n,)."""
        import numpy as np

        codes = np.frombuffer(bytes(self._codes), np.uint8)
        return np.where(codes >= len(Standing), np.uint8(Standing.SCORED), codes)

    def values(self) -> NDArray[np.float64]:
        """The value of each trial, 0 where there is none, (n,)."""
        import numpy as np

        if self._values is not None:
            values = np.array(self._values, np.float64)
            values[np.frombuffer(bytes(self._codes), np.uint8) != Standing.SCORED] = 0.0
            return values
        table = np.array([0.0] * len(Standing) + list(self._distinct))
        found: NDArray[np.float64] = table[np.frombuffer(bytes(self._codes), np.uint8)]
        return found
