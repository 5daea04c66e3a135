"""Marks that identify the response of a simulated server, even behind gateways that drop unknown fields.

Every response carries three marks: a header, the `system_fingerprint` of chat completions, and the id, which
all dialects have.

LiteLLM's proxy passes on the header as `llm_provider-…`, or it passes on the id, which it encodes in
Responses. If the proxy translates a stream for a client of another dialect (Messages from a server of chat
completions), it drops both the header and the id.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from typing import Any

SIMULATED_HEADER = b"x-benchwright-simulated"

SIMULATED_MARK = "benchwright-simulated"
"""Fingerprint of a simulated model. It is also the owner of the simulated models, and a part of their ids."""

_ENCODED = "resp_"
"""Beginning of an id that LiteLLM has made. Such an id contains the server's id and LiteLLM's own data, in Base64."""


def is_simulated(answer: dict[str, Any]) -> bool:
    """Return True if a response or chunk of a chat completion carries a mark."""
    identity, fingerprint = answer.get("id"), answer.get("system_fingerprint")
    if isinstance(fingerprint, str) and SIMULATED_MARK in fingerprint:
        return True
    return isinstance(identity, str) and (SIMULATED_MARK in identity or SIMULATED_MARK in _decoded(identity))


def _decoded(identity: str) -> str:
    if not identity.startswith(_ENCODED):
        return ""
    try:
        return b64decode(identity.removeprefix(_ENCODED), validate=True).decode("latin-1")
    except (binascii.Error, ValueError):
        return ""
