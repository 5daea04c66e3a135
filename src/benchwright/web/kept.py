"""A few results that took long to make, kept until something they were made from changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Result = TypeVar("Result")

MOST = 8


class ResultCache(Generic[Result]):
    """Results by keys that say all they depend on; one is made at a time."""

    def __init__(self) -> None:
        self._results: OrderedDict[Hashable, Result] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """The result, made where it is not there."""
        with self._lock:
            if key not in self._results:
                self._results[key] = make()
            self._results.move_to_end(key)
            while len(self._results) > MOST:
                self._results.popitem(last=False)
            return self._results[key]
