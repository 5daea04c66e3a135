"""A cursor over the tokens of an expression. It can go back if parsing fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction

from benchwright.catalog.matharena.tokens import UNKNOWN_TOKEN
from benchwright.catalog.matharena.values import NoValueError, Value

MAX_NESTING = 60
"""Maximum depth of nested brackets."""


class UnreadableExpression(Exception):
    """The error of a text that is not an expression."""


class NoExpressionError(UnreadableExpression):
    """The error at a token where no expression begins. The tokens before it may still form an expression."""


class TokenCursor:
    """A reader of tokens from left to right.

    Brackets whose content was found unreadable are not parsed a second time.
    """

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
    def next_token(self) -> str | None:
        """The next token, without moving past it. None at the end.

        Raises:
            UnreadableExpression: If the lexer does not know the token.
        """
        sign = self._signs[self._place] if self._place < len(self._signs) else None
        if sign == UNKNOWN_TOKEN:
            raise UnreadableExpression("a sign that is not known")
        return sign

    def _take(self) -> str:
        """Return the next token and move past it."""
        sign = self.next_token
        if sign is None:
            raise NoExpressionError("it ends too early")
        self._place += 1
        return sign

    def _expect(self, sign: str) -> None:
        if (taken := self._take()) != sign:
            raise NoExpressionError(f"{taken!r} instead of {sign!r}")

    def _behind(self) -> str:
        """Return the second token ahead, without moving. Return "" if there is none."""
        return "".join(self._signs[self._place + 1 : self._place + 2])

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise NoValueError("nested too deeply")
        yield
        self._depth -= 1

    @contextmanager
    def _within(self, *, bars: bool = False, listing: bool = False) -> Iterator[None]:
        """Parse the content of brackets in the body of the `with` statement. The opening token was already taken.

        `bars`: True if the brackets are vertical bars. `listing`: True if they enclose arguments separated by
        commas.
        """
        begin = self._place
        if begin in self._unreadable_brackets:
            raise NoExpressionError("as was seen before")
        outside = self._in_bars, self._listing
        self._in_bars, self._listing = bars, listing
        try:
            yield
        except NoExpressionError:
            self._unreadable_brackets.add(begin)
            raise
        self._in_bars, self._listing = outside

    def _where_readable(self, part: Callable[[], Value]) -> Value | None:
        """Return the value that `part` reads.

        If no expression begins here, return None and stay at this token.
        """
        before = self._signs, self._place, self._depth, self._in_bars, self._listing, self._lacking
        try:
            return part()
        except NoExpressionError:
            self._signs, self._place, self._depth, self._in_bars, self._listing, self._lacking = before
            return None

    def _computed(self, operation: Callable[..., Value], *values: Value) -> Value:
        """Return the result of an operation.

        If the result is undefined, the whole expression has no value. It is still read to its end.
        """
        try:
            return operation(*values)
        except NoValueError as reason:
            return self._without_value(str(reason))

    def _without_value(self, reason: str) -> Value:
        self._lacking = reason
        return Fraction(1)
