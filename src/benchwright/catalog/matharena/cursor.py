"""A place in the signs of an expression, which goes forward, and back where something cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction

from benchwright.catalog.matharena.signs import NO_SIGN
from benchwright.catalog.matharena.values import NoValue, Value

DEEPEST = 60
"""How deeply brackets may be nested."""


class Unreadable(Exception):
    """There is no expression."""


class NotHere(Unreadable):
    """What follows is not an expression; what stands before it may be one."""


class Cursor:
    """Takes signs from left to right. What has been found unreadable in brackets is not read again."""

    def __init__(self, signs: list[str], symbols: Mapping[str, Value]) -> None:
        self._signs = signs
        self._symbols = symbols
        self._place = 0
        self._depth = 0
        self._in_bars = False
        self._listing = False
        self._lacking: str | None = None
        self._unreadable_brackets: set[int] = set()

    @property
    def next(self) -> str | None:
        """The sign that comes next; None at the end."""
        sign = self._signs[self._place] if self._place < len(self._signs) else None
        if sign == NO_SIGN:
            raise Unreadable("a sign that is not known")
        return sign

    def _take(self) -> str:
        """The sign that comes next, which is behind then."""
        sign = self.next
        if sign is None:
            raise NotHere("it ends too early")
        self._place += 1
        return sign

    def _expect(self, sign: str) -> None:
        if (taken := self._take()) != sign:
            raise NotHere(f"{taken!r} instead of {sign!r}")

    def _behind(self) -> str:
        """The sign behind the next one; blank where there is none."""
        return "".join(self._signs[self._place + 1 : self._place + 2])

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > DEEPEST:
            raise NoValue("nested too deeply")
        yield
        self._depth -= 1

    @contextmanager
    def _within(self, *, bars: bool = False, listing: bool = False) -> Iterator[None]:
        """In brackets whose first sign was taken: in bars, or among arguments, which commas part."""
        begin = self._place
        if begin in self._unreadable_brackets:
            raise NotHere("as was seen before")
        outside = self._in_bars, self._listing
        self._in_bars, self._listing = bars, listing
        try:
            yield
        except NotHere:
            self._unreadable_brackets.add(begin)
            raise
        self._in_bars, self._listing = outside

    def _where_readable(self, part: Callable[[], Value]) -> Value | None:
        """What `part` reads from here; None, and nothing is taken, where there is no expression."""
        before = self._signs, self._place, self._depth, self._in_bars, self._listing, self._lacking
        try:
            return part()
        except NotHere:
            self._signs, self._place, self._depth, self._in_bars, self._listing, self._lacking = before
            return None

    def _computed(self, operation: Callable[..., Value], *values: Value) -> Value:
        """The result of an operation; where there is none, reading goes on and the whole has no value."""
        try:
            return operation(*values)
        except NoValue as reason:
            return self._without_value(str(reason))

    def _without_value(self, reason: str) -> Value:
        self._lacking = reason
        return Fraction(1)
