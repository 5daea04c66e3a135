"""Headers that a user adds to requests: which may be sent, and which of them are secret."""

from __future__ import annotations

import re

OURS = frozenset(
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
"""Headers that say how bytes travel. A wrong one would break the exchange, so a user cannot set them."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SECRET_NAME = re.compile(
    r"(?<![a-z])(api|access|auth|private|secret|subscription)?keys?(?![a-z])"
    r"|auth(?!ors?(?![a-z]))|bearer|bypass|cookie|credential|jwt|passw|secret|session|signature|token",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile("(bearer|basic|token) |sk-|eyJ", re.IGNORECASE)


def check_name(name: str) -> str:
    """Return the name of a header if a user may set it.

    Raises:
        ValueError: If it is no name (RFC 9110 5.1), or belongs to the exchange itself.
    """
    if not _NAME.fullmatch(name):
        raise ValueError("a header's name has letters, digits and hyphens: write NAME=VALUE, without a colon")
    if name.lower() in OURS:
        raise ValueError(f"{name} cannot be set: it says how bytes travel, which Benchwright decides")
    return name


def check_value(name: str, value: str) -> str:
    """Return the value of a header without blanks around it. Never shows it.

    Raises:
        ValueError: If it is empty, or has characters that no header can carry, such as a line break.
    """
    value = value.strip(" \t")
    if not value:
        raise ValueError(f"{name} has no value")
    if not value.isascii() or not value.replace("\t", " ").isprintable():
        raise ValueError(f"the value of {name} has characters that are invalid in an HTTP header")
    return value


def is_secret(name: str, value: str) -> bool:
    """Return whether a header has to be kept out of files and messages, by its name or by how its value begins."""
    return bool(_SECRET_NAME.search(name) or _SECRET_VALUE.match(value))


def secret_parts(value: str) -> list[str]:
    """Return the value of a secret header, and the parts of it that a server may repeat by themselves.

    A token stands behind its scheme (`Bearer …`), a cookie's value behind its name (`session=…`).
    """
    parts = [part for part in re.split(r"[\s;,]+", value) if len(part) >= 8]
    values = [part.partition("=")[2] for part in parts if "=" in part.rstrip("=")]
    return list(dict.fromkeys([value, *parts, *(one for one in values if len(one) >= 8)]))
