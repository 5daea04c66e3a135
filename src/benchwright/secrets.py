"""Secrets: what they are, and how they are kept out of everything that is written or shown.

A key enters the program by `SECRETS.add`. From then on the journal's encoder and the logging filter
replace it wherever it turns up, in whichever way it is escaped; no other place needs to know.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

REPLACEMENT = "[secret]"
SHORTEST = 6
"""Shorter values are not keys; replacing them would garble ordinary text."""


class Secrets:
    """The secrets of this process.

    Most texts hold none of them, which is found out by what costs little: the forms of a secret that are always the
    same are looked for first, a mixture of escapes only where a character of a secret is escaped.
    """

    def __init__(self) -> None:
        self._secrets: list[_Secret] = []
        self._forms: list[str] = []
        self._encoded: list[bytes] = []
        self._escapes: list[tuple[bytes, re.Pattern[bytes]]] = []

    def add(self, value: str | None) -> None:
        """Registers a secret; None, the placeholder EMPTY and very short values are none."""
        known = [secret.text for secret in self._secrets]
        if not value or value == "EMPTY" or len(value) < SHORTEST or value in known:
            return
        self._secrets = sorted([*self._secrets, _Secret(value)], key=lambda one: len(one.text), reverse=True)
        self._forms = [form for secret in self._secrets for form in secret.forms]
        self._encoded = [form.encode("utf-8", "surrogatepass") for form in self._forms]
        self._escapes = _escapes_of("".join(secret.text for secret in self._secrets))

    def redact(self, text: str) -> str:
        """The text with every secret replaced, escaped ones too."""
        for form in (*self._forms, "\\", "%"):
            if form in text:
                return self._replaced_in(text)
        return text

    def _replaced_in(self, text: str) -> str:
        encoded = text.encode("utf-8", "surrogatepass")
        if self._may_be_in(encoded):
            for secret in self._secrets:
                encoded = secret.in_text.sub(REPLACEMENT.encode(), encoded)
        return encoded.decode("utf-8", "surrogatepass")

    def redact_json(self, encoded: bytes) -> bytes:
        """Encoded JSON with every secret replaced, in whichever way JSON may have escaped it."""
        if self._may_be_in(encoded):
            for secret in self._secrets:
                encoded = secret.in_json.sub(REPLACEMENT.encode(), encoded)
        return encoded

    def _may_be_in(self, text: bytes) -> bool:
        for form in self._encoded:
            if form in text:
                return True
        return any(mark in text and escape.search(text) for mark, escape in self._escapes)


class _Secret:
    """A secret, the `forms` of it that are always the same, and patterns of all that it may look like."""

    def __init__(self, text: str) -> None:
        import html
        import json

        self.text = text
        as_html = html.escape(text)
        coded = [form.decode() for form in sorted(_in_base64(text.encode("utf-8", "surrogatepass")))]
        self.forms = [*dict.fromkeys([text, json.dumps(text, ensure_ascii=False)[1:-1], as_html]), *coded]
        others = b"|".join(re.escape(form.encode("utf-8", "surrogatepass")) for form in (as_html, *coded))
        self.in_json = re.compile(_BROKEN_OFF + _escaped(text, rb"(?:\\\\)+") + b"|" + others)
        self.in_text = re.compile(_escaped(text, rb"\\+") + b"|" + others)


_BROKEN_OFF = rb"(?:\\+(?:u[0-9a-fA-F]{0,3})?)?"
"""The beginning of an escape that seems to end within the secret: it would be left behind, and be no JSON."""

_SHORT = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


def _escaped(secret: str, backslash: bytes) -> bytes:
    """A pattern of a secret whose characters stand for themselves or are escaped, each in a way of its own."""
    return b"".join(b"(?:%b)" % b"|".join(_ways(character, backslash)) for character in secret)


def _ways(character: str, backslash: bytes) -> list[bytes]:
    encoded = character.encode("utf-8", "surrogatepass")
    escapes = b"".join(rb"\\+u" + unit for unit in _units(character))
    percents = b"".join(b"%%%02x" % byte for byte in encoded)
    if character == "\\":
        own = backslash
    elif character in '"/':
        own = rb"\\*" + encoded
    else:
        own = re.escape(encoded)
    short = [rb"\\+" + _SHORT[character].encode()] if character in _SHORT else []
    return [own, *short, b"(?i:%b|%b)" % (escapes, percents)]


def _units(character: str) -> list[bytes]:
    """The UTF-16 units of a character as JSON escapes them."""
    units = character.encode("utf-16-be", "surrogatepass").hex().encode()
    return [units[start : start + 4] for start in range(0, len(units), 4)]


def _escapes_of(characters: str) -> list[tuple[bytes, re.Pattern[bytes]]]:
    """How to find that one of these characters is escaped: (what must be there, pattern that begins with it)."""
    codes = set(characters.encode("utf-8", "surrogatepass"))
    unicode = rb"\\u(?:00%b)" if characters.isascii() else rb"\\u(?:00%b|0?[^0])"
    found = [(b"%", re.compile(b"%" + _any_of(codes))), (b"\\u", re.compile(unicode % _any_of(codes)))]
    for character, escape in {"/": rb"\/", '"': rb"\"", "\\": rb"\\"}.items():
        if character in characters:
            found.append((escape, re.compile(re.escape(escape))))
    return found


def _any_of(codes: Iterable[int]) -> bytes:
    """A pattern of two hexadecimal digits that are one of these codes."""
    seconds: dict[str, str] = {}
    for code in sorted(codes):
        first, second = f"{code >> 4:x}", f"{code & 15:x}"
        seconds[first] = seconds.get(first, "") + second + second.upper()
    return "(?:{})".format("|".join(f"[{a}{a.upper()}][{b}]" for a, b in seconds.items())).encode()


def _in_base64(secret: bytes) -> set[bytes]:
    """What of a secret's base64 does not depend on what stands before and after it, for each place to begin."""
    import base64

    cores = set()
    for before in range(3):
        coded = base64.b64encode(bytes(before) + secret)
        core = coded[-(-before * 8 // 6) : (before + len(secret)) * 8 // 6]
        cores |= {core, core.translate(bytes.maketrans(b"+/", b"-_"))}
    return cores


class SecretFilter(logging.Filter):
    """Replaces secrets in log records; set on the root handlers once."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrites the record's message and traceback in place; never drops it."""
        try:
            message = record.getMessage()
        except Exception as error:  # somebody's faulty logging call is no reason to end the run
            message = f"{record.msg!r} cannot be formatted: {error}"
        record.msg, record.args = SECRETS.redact(message), None
        if record.exc_info:  # formatters take `exc_text` for the traceback where it is there
            record.exc_text = SECRETS.redact(logging.Formatter().formatException(record.exc_info))
        return True


SECRETS = Secrets()
"""Secrets are replaced wherever they turn up."""
