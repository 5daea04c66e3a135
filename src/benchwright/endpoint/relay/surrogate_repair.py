"""Repair of request bodies for strict servers: unpaired surrogates are joined to pairs, or replaced.

Programs cut the output of tools by length, and may so cut a character in two. Half of a surrogate pair is not
valid in JSON text (RFC 8259, 8.2). Servers refuse the request, and then every later request of the
conversation.
"""

from __future__ import annotations

import re

import msgspec

from benchwright.endpoint.json_reading import decode_leniently, join_surrogates
from benchwright.endpoint.serving.http import HttpError, HttpRequest

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPES = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
"""Matches an escaped backslash, an escaped surrogate pair, or an escaped unpaired surrogate (as the group)."""
_BROKEN = rb"\ufffd"


def repair_surrogates(request: HttpRequest) -> HttpRequest:
    """Return the request with the unpaired surrogates in its body joined to pairs, or replaced.

    Raises:
        HttpError: If the body is compressed.
    """
    coding = request.headers.get(b"content-encoding", b"").strip().lower()
    if coding not in (b"", b"identity"):
        shown = coding.decode("latin-1")
        accepted = ((b"accept-encoding", b"identity"),)  # RFC 9110, 15.5.16
        raise HttpError(415, f"The relay reads no {shown} bodies: send them uncompressed.", headers=accepted)
    body = _whole(request.body)
    return request if body is request.body else msgspec.structs.replace(request, body=body)


def _whole(body: bytes) -> bytes:
    """Return a JSON text in which split surrogate pairs are joined, and other unpaired surrogates are U+FFFD."""
    if _SURROGATE.search(body):
        body = _ESCAPES.sub(lambda found: _BROKEN if found[1] else found[0], body)
    if body.isascii():
        return body
    try:
        body.decode()
    except UnicodeDecodeError:
        return join_surrogates(decode_leniently(body)).encode()
    return body
