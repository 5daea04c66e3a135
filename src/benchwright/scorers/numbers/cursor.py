"""A cursor: the current position in a list of tokens."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.scorers.numbers.tokens import Token


class TokenCursor:
    """A reader of tokens. `place`: the current position.

    Functions that read something move `place` past the tokens that they read. If they fail, they leave
    `place` unchanged.
    """

    def __init__(self, tokens: Sequence[Token], place: int = 0) -> None:
        self.tokens = tokens
        self.place = place

    def peek(self, ahead: int = 0) -> Token | None:
        """Return the token at `place + ahead`. Return None if this position is outside the list."""
        place = self.place + ahead
        return self.tokens[place] if 0 <= place < len(self.tokens) else None

    def is_sign(self, *texts: str, ahead: int = 0) -> bool:
        """Return True if the token at `place + ahead` is a sign, brace or LaTeX command whose text is in `texts`."""
        token = self.peek(ahead)
        return token is not None and token.text in texts and token.kind in ("sign", "group", "command")

    def is_word(self, *texts: str, ahead: int = 0) -> bool:
        """Return True if the token at `place + ahead` is a word in `texts`, ignoring case.

        `texts` must be in lower case.
        """
        token = self.peek(ahead)
        return token is not None and token.kind == "word" and token.text.lower() in texts

    def is_number(self, ahead: int = 0) -> bool:
        """Return True if the token at `place + ahead` is a number in digits."""
        token = self.peek(ahead)
        return token is not None and token.kind == "number"
