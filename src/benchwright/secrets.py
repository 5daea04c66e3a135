"""Keeps secrets (API keys and the like) out of all output.

A secret is registered by `SECRETS.add`. From then on the journal's encoder and the logging filter replace the secret
wherever it occurs, in any kind of escaping. No other module has to handle secrets.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

SECRET_PLACEHOLDER = "[secret]"
MIN_SECRET_LENGTH = 6
"""Minimum length of a secret. Replacing shorter values would garble ordinary text."""


class Secrets:
    """Registry of secrets. It replaces the secrets in texts.

    Most texts contain no secret, and cheap tests find that out. The first test searches for the fixed forms of each
    secret. The second test searches for mixed escapes, and is made only if a character of a secret is escaped.
    """

    def __init__(self) -> None:
        self._secrets: list[_Secret] = []
        self._forms: list[str] = []
        self._encoded: list[bytes] = []
        self._escapes: list[tuple[bytes, re.Pattern[bytes]]] = []

    def add(self, value: str | None) -> None:
        """Register a secret. None, the placeholder EMPTY and very short values are ignored."""
        known = [secret.text for secret in self._secrets]
        if not value or value == "EMPTY" or len(value) < MIN_SECRET_LENGTH or value in known:
            return
        self._secrets = sorted([*self._secrets, _Secret(value)], key=lambda one: len(one.text), reverse=True)
        self._forms = [form for secret in self._secrets for form in secret.forms]
        self._encoded = [form.encode("utf-8", "surrogatepass") for form in self._forms]
        self._escapes = _escapes_of("".join(secret.text for secret in self._secrets))

    def redact(self, text: str) -> str:
        """Return the text with every secret replaced. Secrets in which characters are escaped are found, too."""
        for form in (*self._forms, "\\", "%"):
            if form in text:
                return self._replaced_in(text)
        return text

    def _replaced_in(self, text: str) -> str:
        encoded = text.encode("utf-8", "surrogatepass")
        if self._may_be_in(encoded):
            for secret in self._secrets:
                encoded = secret.in_text.sub(SECRET_PLACEHOLDER.encode(), encoded)
        return encoded.decode("utf-8", "surrogatepass")

    def redact_json(self, encoded: bytes) -> bytes:
        """Return encoded JSON with every secret replaced, in any escaping that JSON allows."""
        if self._may_be_in(encoded):
            for secret in self._secrets:
                encoded = secret.in_json.sub(SECRET_PLACEHOLDER.encode(), encoded)
        return encoded

    def _may_be_in(self, text: bytes) -> bool:
        for form in self._encoded:
            if form in text:
                return True
        return any(mark in text and escape.search(text) for mark, escape in self._escapes)


class _Secret:
    """A secret: its fixed encodings (`forms`), and regular expressions that match it in every mixture of escapes."""

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
"""Regular expression for an escape sequence that begins inside a secret and is cut off at the secret's end.

If the start of such a sequence were left in the text, the text would be invalid JSON.
"""

_SHORT = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


def _escaped(secret: str, backslash: bytes) -> bytes:
    """Return a regular expression for a secret. Each character of the secret may be literal or escaped."""
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
    """Return the UTF-16 code units of a character as hexadecimal digits, as JSON escapes (`\\uXXXX`) write them."""
    units = character.encode("utf-16-be", "surrogatepass").hex().encode()
    return [units[start : start + 4] for start in range(0, len(units), 4)]


def _escapes_of(characters: str) -> list[tuple[bytes, re.Pattern[bytes]]]:
    """Return tests for an escaped occurrence of any of these characters.

    Each test is a pair: bytes that must occur in a text for the pattern to match, and the pattern, which begins
    with these bytes.
    """
    codes = set(characters.encode("utf-8", "surrogatepass"))
    unicode = rb"\\u(?:00%b)" if characters.isascii() else rb"\\u(?:00%b|0?[^0])"
    found = [(b"%", re.compile(b"%" + _any_of(codes))), (b"\\u", re.compile(unicode % _any_of(codes)))]
    for character, escape in {"/": rb"\/", '"': rb"\"", "\\": rb"\\"}.items():
        if character in characters:
            found.append((escape, re.compile(re.escape(escape))))
    return found


def _any_of(codes: Iterable[int]) -> bytes:
    """Return a regular expression that matches any of these codes, written as two hexadecimal digits."""
    seconds: dict[str, str] = {}
    for code in sorted(codes):
        first, second = f"{code >> 4:x}", f"{code & 15:x}"
        seconds[first] = seconds.get(first, "") + second + second.upper()
    return "(?:{})".format("|".join(f"[{a}{a.upper()}][{b}]" for a, b in seconds.items())).encode()


def _in_base64(secret: bytes) -> set[bytes]:
    """Return the parts of a secret's base64 encoding that do not depend on the bytes around the secret.

    There is one part for each alignment of the secret, in the standard and in the URL-safe alphabet.
    """
    import base64

    cores = set()
    for before in range(3):
        coded = base64.b64encode(bytes(before) + secret)
        core = coded[-(-before * 8 // 6) : (before + len(secret)) * 8 // 6]
        cores |= {core, core.translate(bytes.maketrans(b"+/", b"-_"))}
    return cores


class SecretFilter(logging.Filter):
    """Logging filter that replaces secrets in log records. It is attached to the root handlers once."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Replace secrets in the record's message and traceback in place. Return True: no record is dropped."""
        try:
            message = record.getMessage()
        except Exception as error:  # a faulty logging call must not end the run
            message = f"{record.msg!r} cannot be formatted: {error}"
        record.msg, record.args = SECRETS.redact(message), None
        if record.exc_info:  # formatters use `exc_text` as the traceback if it is set
            record.exc_text = SECRETS.redact(logging.Formatter().formatException(record.exc_info))
        return True


SECRETS = Secrets()
"""The registry of this process's secrets."""
