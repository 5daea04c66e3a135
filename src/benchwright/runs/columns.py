"""Columns of numbers and texts that grow with the rows of a table. An entry takes as few bytes as the values need."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from benchwright.runs.counting_rules import ScoreState

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.integer[Any]] | NDArray[np.bool_]
    """Selection of rows: row numbers, shape (rows,), or a mask of all rows, shape (n,).

    A mask takes a quarter of the bytes.
    """

ARRAY_TYPE_CODES = "BHIQ"
MAX_DISTINCT_SCORES = 250
"""Number of distinct values of a score up to which each entry of its column takes one byte.

With more distinct values, each entry takes eight bytes.
"""


ROWS_PER_BLOCK = 65_536
"""Number of rows processed at a time. Blocks save memory, because numpy needs eight bytes for each row number."""


def true_indices(mask: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Return the indices at which a mask (n,) is True, as 32-bit numbers."""
    import numpy as np

    return _looked_up(mask, np.dtype(np.uint32), lambda some: some)


def filter_rows(rows: Rows, keep: NDArray[np.bool_]) -> Rows:
    """Return the entries of `rows` for which `keep`, shape (rows,), is True."""
    import numpy as np

    if rows.dtype != np.bool_:
        return rows[keep]
    mask = rows.copy()
    mask[rows] = keep
    return mask


def _looked_up(rows: Rows, kind: np.dtype[Any], look: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    """Apply `look` to `rows` block by block and return the joined results, shape (rows,), of dtype `kind`."""
    import numpy as np

    are_marked = rows.dtype == np.bool_
    found = np.empty(np.count_nonzero(rows) if are_marked else len(rows), kind)
    done = 0
    for start in range(0, len(rows), ROWS_PER_BLOCK):
        some = rows[start : start + ROWS_PER_BLOCK]
        places = np.flatnonzero(some) + start if are_marked else some
        found[done : done + len(places)] = look(places)
        done += len(places)
    return found


class IntColumn:
    """A column of whole numbers from 0. Each entry takes as many bytes as the largest number needs.

    Zeros at the end of the column take no memory. `rows`: function that returns the number of entries.
    """

    def __init__(self, rows: Callable[[], int]) -> None:
        self._rows = rows
        self._values = array("B")

    def __len__(self) -> int:
        return self._rows()

    def __getitem__(self, place: int) -> int:
        return self._values[place] if place < len(self._values) else 0

    def __setitem__(self, place: int, value: int) -> None:
        missing = place - len(self._values)
        if missing >= 0:
            if not value:
                return
            if missing:
                self._values.frombytes(bytes(missing * self._values.itemsize))
        try:
            if missing < 0:
                self._values[place] = value
            else:
                self._values.append(value)
        except OverflowError:
            wider = next(width for width in ARRAY_TYPE_CODES if value < 1 << 8 * array(width).itemsize)
            self._values = array(wider, self._values)
            self[place] = value

    def numbers(self, rows: Rows | None = None) -> NDArray[np.int64]:
        """Return a copy of the entries of `rows`, shape (rows,).

        Without `rows`, return a copy of all entries, shape (n,).
        """
        import numpy as np

        if rows is not None:
            return self.compact_numbers(rows).astype(np.int64)
        found = np.zeros(len(self), np.int64)
        found[: len(self._values)] = self._values
        return found

    def compact_numbers(self, rows: Rows) -> NDArray[Any]:
        """Return a copy of the entries of some rows, shape (rows,), in the column's own unsigned type."""
        import numpy as np

        values = np.frombuffer(self._values, self._values.typecode)
        if not len(values):
            return _looked_up(rows, values.dtype, lambda some: np.zeros(len(some), values.dtype))
        last = len(values) - 1
        if last + 1 == len(self):
            return _looked_up(rows, values.dtype, lambda some: values[some])
        return _looked_up(
            rows, values.dtype, lambda some: np.where(some <= last, values[np.minimum(some, last)], 0)
        )

    def count(self, value: int) -> int:
        """Return how many entries equal `value`."""
        return self._values.count(value) + (0 if value else len(self) - len(self._values))

    def value_counts(self, rows: Rows) -> list[tuple[int, int]]:
        """Return (value, number of entries) for each distinct value in these rows, the smallest value first."""
        import numpy as np

        numbers, times = np.unique(self.compact_numbers(rows), return_counts=True)
        return list(zip(numbers.tolist(), times.tolist(), strict=True))

    def equal_mask(self, value: int) -> NDArray[np.bool_]:
        """Return a mask (n,) of the entries that equal `value`."""
        import numpy as np

        found = np.full(len(self), value == 0)
        found[: len(self._values)] = np.frombuffer(self._values, self._values.typecode) == value
        return found

    @property
    def max_number(self) -> int:
        """The largest entry. It is 0 if the column is empty."""
        import numpy as np

        return int(np.frombuffer(self._values, self._values.typecode).max(initial=0))

    def between_mask(self, low: int, high: int) -> NDArray[np.bool_]:
        """Return a mask (n,) of the entries that are at least `low` and less than `high`."""
        import numpy as np

        values = np.frombuffer(self._values, self._values.typecode)
        found = np.full(len(self), low <= 0 < high)
        found[: len(values)] = (values >= low) & (values < high)
        return found


class CodedNames:
    """Distinct texts. Each is stored once and identified by a number, its code."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: list[str] = list(names)
        self._codes = {name: code for code, name in enumerate(self.names)}

    def get_or_add_code(self, name: str) -> int:
        """Return the code of a name. If the name is new, the next code is assigned to it."""
        code = self._codes.setdefault(name, len(self.names))
        if code == len(self.names):
            self.names.append(name)
        return code

    def find_code(self, name: str) -> int | None:
        """Return the code of a name. None if the name is unknown."""
        return self._codes.get(name)

    def __getitem__(self, code: int) -> str:
        return self.names[code]

    def __len__(self) -> int:
        return len(self.names)


class FailureReasons(CodedNames):
    """The distinct reasons for which trials failed. The first is the empty reason.

    At most `MAX_REASONS` distinct reasons are kept. All further reasons share the entry "other reasons".
    """

    MAX_REASONS = 100

    def __init__(self) -> None:
        super().__init__([""])

    def get_or_add_code(self, name: str) -> int:
        """Return the code of a reason. It is 0 for the empty reason."""
        known = len(self) <= self.MAX_REASONS or self.find_code(name) is not None
        return super().get_or_add_code(name if known else "other reasons")


class SampleColumn:
    """A column of sample ids, one per trial, stored as codes.

    An id that is a row number n has the even code 2n, and takes only the bytes that this number needs. Any
    other id has an odd code.
    """

    def __init__(self, rows: Callable[[], int]) -> None:
        self._codes = IntColumn(rows)
        self._names = CodedNames()

    def __len__(self) -> int:
        return len(self._codes)

    def __setitem__(self, place: int, sample: str) -> None:
        number = _row_number(sample)
        self._codes[place] = 2 * self._names.get_or_add_code(sample) + 1 if number is None else 2 * number

    def __getitem__(self, place: int) -> str:
        return self.sample_id(self._codes[place])

    def __iter__(self) -> Iterator[str]:
        return (self[place] for place in range(len(self)))

    def sample_id(self, code: int) -> str:
        """Return the id that a code stands for."""
        return self._names[code >> 1] if code & 1 else str(code >> 1)

    def find_code(self, sample: str) -> int | None:
        """Return the code of an id. None if the id is not a row number and no trial has it."""
        number = _row_number(sample)
        if number is not None:
            return 2 * number
        found = self._names.find_code(sample)
        return None if found is None else 2 * found + 1

    def numbers(self, rows: Rows | None = None) -> NDArray[np.int64]:
        """Return the sample codes of the trials in `rows`. Without `rows`, return the codes of all trials.

        A code is twice the row number, or an odd number for any other id.
        """
        return self._codes.numbers(rows)

    def compact_numbers(self, rows: Rows) -> NDArray[Any]:
        """Return the sample codes of the trials in `rows`, in the column's own type; see
        `IntColumn.compact_numbers`.
        """
        return self._codes.compact_numbers(rows)

    @property
    def max_number(self) -> int:
        """The largest code in the column."""
        return self._codes.max_number

    def between_mask(self, low: int, high: int) -> NDArray[np.bool_]:
        """Return a mask (n,) of the trials whose sample codes are at least `low` and less than `high`."""
        return self._codes.between_mask(low, high)

    def rows_of(self, sample: str) -> list[int]:
        """Return the rows whose sample has this id."""
        code = self.find_code(sample)
        if code is None:
            return []
        import numpy as np

        found: list[int] = np.flatnonzero(self._codes.equal_mask(code)).tolist()
        return found


def _row_number(sample: str) -> int | None:
    """Return the row number that an id is. None if the id is not a row number (`a`, `07`)."""
    if not (sample.isascii() and sample.isdecimal() and len(sample) < 18):
        return None
    return int(sample) if sample[0] != "0" or sample == "0" else None


class ScoreColumn:
    """A column with one score for every trial: a state, and a value if the trial is scored.

    A code below three is a `ScoreState`. A code from three on stands for one of the distinct values. With more
    than `MAX_DISTINCT_SCORES` distinct values, the values themselves are stored.
    """

    def __init__(self) -> None:
        self._codes = bytearray()
        self._distinct: dict[float, int] = {}
        self._values: array[float] | None = None

    def __len__(self) -> int:
        return len(self._codes)

    def append_state(self, state: ScoreState) -> None:
        """Add a trial whose score has this state and no value."""
        self._codes.append(state)
        if self._values is not None:
            self._values.append(0.0)

    def set_score(self, place: int, state: ScoreState, value: float = 0.0) -> None:
        """Set the state and value of a trial's score."""
        if state is not ScoreState.SCORED:
            self._codes[place] = state
            return
        if self._values is None:
            code = self._distinct.setdefault(value, len(self._distinct) + len(ScoreState))
            if code < MAX_DISTINCT_SCORES:
                self._codes[place] = code
                return
            self._keep_values()
        assert self._values is not None
        self._codes[place] = ScoreState.SCORED
        self._values[place] = value

    def _keep_values(self) -> None:
        values = [0.0] * len(ScoreState) + list(self._distinct)
        self._values = array("d", (values[code] for code in self._codes))
        self._codes = bytearray(code if code < len(ScoreState) else ScoreState.SCORED for code in self._codes)
        self._distinct = {}

    def state(self, place: int) -> ScoreState:
        """Return the state of a trial's score."""
        code = self._codes[place]
        return ScoreState(code) if code < len(ScoreState) else ScoreState.SCORED

    def value(self, place: int) -> float | None:
        """Return the value of a trial's score. None if it has no value."""
        code = self._codes[place]
        if self._values is not None:
            return self._values[place] if code == ScoreState.SCORED else None
        return list(self._distinct)[code - len(ScoreState)] if code >= len(ScoreState) else None

    def states(self, rows: Rows) -> NDArray[np.uint8]:
        """Return the `ScoreState` of each trial in these rows, shape (rows,)."""
        import numpy as np

        known = np.frombuffer(self._codes, np.uint8)
        codes = _looked_up(rows, known.dtype, lambda some: known[some])
        codes[codes >= len(ScoreState)] = ScoreState.SCORED
        return codes

    def values(self, rows: Rows) -> NDArray[np.float64]:
        """Return the score of each trial in these rows, shape (rows,). It is 0 for a trial without a value."""
        import numpy as np

        codes = np.frombuffer(self._codes, np.uint8)
        distinct = np.array([0.0] * len(ScoreState) + list(self._distinct))
        if self._values is None:
            return _looked_up(rows, distinct.dtype, lambda some: distinct[codes[some]])
        values = np.frombuffer(self._values)
        return _looked_up(
            rows, values.dtype, lambda some: np.where(codes[some] == ScoreState.SCORED, values[some], 0.0)
        )
