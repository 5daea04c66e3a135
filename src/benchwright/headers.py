"""Checks headers that users add to requests, and recognises secret ones."""

from __future__ import annotations

import re

PROTOCOL_HEADERS = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Names of the headers that control the HTTP exchange itself.

A wrong value would break the exchange, so users cannot set these headers.
"""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SECRET_NAME = re.compile(
    r"(?<![a-z])(api|access|auth|private|secret|subscription)?keys?(?![a-z])"
    r"|auth(?!ors?(?![a-z]))|bearer|bypass|cookie|credential|jwt|passw|secret|session|signature|token",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile("(bearer|basic|token) |sk-|eyJ", re.IGNORECASE)


def check_header_name(name: str) -> str:
    """Return the name of a header. Raise an error if users cannot set that header.

    Raises:
        ValueError: If the name is invalid (RFC 9110 5.1), or the header controls the HTTP exchange itself.
    """
    if not _NAME.fullmatch(name):
        raise ValueError("a header's name has letters, digits and hyphens: write NAME=VALUE, without a colon")
    if name.lower() in PROTOCOL_HEADERS:
        raise ValueError(f"{name} cannot be set: it says how bytes travel, which Benchwright decides")
    return name


def check_header_value(name: str, value: str) -> str:
    """Return the value of a header without surrounding white space. Error messages never contain the value.

    Raises:
        ValueError: If the value is empty, or has characters that are invalid in a header, such as a line
            break.
    """
    value = value.strip(" \t")
    if not value:
        raise ValueError(f"{name} has no value")
    if not value.isascii() or not value.replace("\t", " ").isprintable():
        raise ValueError(f"the value of {name} has characters that are invalid in an HTTP header")
    return value


def is_secret_header(name: str, value: str) -> bool:
    """Return True if a header must be kept out of files and messages.

    The header's name, or the start of its value, shows that.
    """
    return bool(_SECRET_NAME.search(name) or _SECRET_VALUE.match(value))


def secret_parts(value: str) -> list[str]:
    """Return the value of a secret header, and the parts of that value that a server may repeat on their own.

    Such a part is the token after a scheme (`Bearer …`), or a cookie's value after its name (`session=…`).
    """
    parts = [part for part in re.split(r"[\s;,]+", value) if len(part) >= 8]
    values = [part.partition("=")[2] for part in parts if "=" in part.rstrip("=")]
    return list(dict.fromkeys([value, *parts, *(one for one in values if len(one) >= 8)]))
