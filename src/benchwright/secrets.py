"""Secrets: what they are, and how they are kept out of everything that is written or shown.

A key enters the program by `SECRETS.add`. From then on the journal's encoder and the logging filter
replace it wherever it turns up; no other place needs to know.
"""

from __future__ import annotations

import json
import logging

REPLACEMENT = "[secret]"
SHORTEST = 6
"""Shorter values are no keys; replacing them would garble ordinary text."""


class Secrets:
    """The secrets of this process."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._encoded: list[bytes] = []

    def add(self, value: str | None) -> None:
        """Registers a secret; None, the placeholder EMPTY and very short values are none."""
        if not value or value == "EMPTY" or len(value) < SHORTEST or value in self._texts:
            return
        self._texts.append(value)
        self._texts.sort(key=len, reverse=True)
        forms = {form for text in self._texts for form in _json_forms(text)}
        self._encoded = sorted(forms, key=len, reverse=True)

    def redact(self, text: str) -> str:
        """The text with every secret replaced."""
        for secret in self._texts:
            if secret in text:
                text = text.replace(secret, REPLACEMENT)
        return text

    def redact_json(self, encoded: bytes) -> bytes:
        """Encoded JSON with every secret replaced, in whichever way JSON may have escaped it."""
        for secret in self._encoded:
            if secret in encoded:
                encoded = encoded.replace(secret, REPLACEMENT.encode())
        return encoded


def _json_forms(text: str) -> set[bytes]:
    return {
        text.encode(),
        json.dumps(text)[1:-1].encode(),
        json.dumps(text, ensure_ascii=False)[1:-1].encode(),
    }


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
