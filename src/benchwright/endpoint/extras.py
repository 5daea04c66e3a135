"""What requests carry besides what a user asked for, and what a server has refused of it.

A strict server may refuse a header or a field that others take. What Benchwright adds by itself is then left out: the
request is sent once more, and if that is answered, all later ones of the client go without it. What a user asked for is
never left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set

from benchwright.endpoint.heads import REQUEST_ID

STREAM = "stream"
STREAM_OPTIONS = "stream_options"

RENAMED = {"max_tokens": "max_completion_tokens"}
"""Fields that some servers want under another name, and then say so. The user's own are renamed, too."""

OF_MESSAGES = frozenset(
    {
        *("provider_specific_fields", "cache_control", "annotations", "reasoning_content"),
        *("reasoning_details", "thinking_blocks"),
    }
)
"""Fields of messages that client libraries and other providers add, and the API's reference does not have in requests.
Programs send them back within a conversation (LiteLLM's, of mini-swe-agent); Groq, OpenAI and others refuse them."""

NAMING = frozenset({400, 422, 500, 501})
"""Statuses of refusals that name what they refuse; gateways that translate requests answer 500."""

SILENT = frozenset({400, 422})
"""Statuses of refusals that may come without a reason."""

MOST_READ = 16_384
"""Bytes of a refusal in which names are looked for."""

NOTHING: frozenset[str] = frozenset()


class Extras:
    """What one client has learned of its server. `left_out` are the names of headers and fields that it refused.

    `own` are the names of settings that nobody asked for, such as the seed of a protocol.
    """

    def __init__(self, own: Set[str] = NOTHING) -> None:
        self.left_out = NOTHING
        self.own = frozenset(own)
        self._proven = False

    def carried(self, fields: Mapping[str, object], *, stream: bool, sends_id: bool) -> frozenset[str]:
        """Return what a request with these fields carries that may be left out, or renamed."""
        names = {REQUEST_ID} if sends_id else set()
        if stream:
            names |= {STREAM, STREAM_OPTIONS} - fields.keys()
        return frozenset(names | (self.own & fields.keys()) | _renamed_in(fields)) - self.left_out

    def relayed(self, added: Set[str], *, sends_id: bool) -> frozenset[str]:
        """Return the same for a program's request that has these fields beyond the API's, or of Benchwright."""
        fields = added & {STREAM_OPTIONS, *RENAMED, *OF_MESSAGES, *self.own}
        return frozenset({REQUEST_ID} | fields if sends_id else fields)

    def narrowed(
        self, left_out: frozenset[str], carried: frozenset[str], status: int, body: bytes, reason: str
    ) -> frozenset[str] | None:
        """Return what the next attempt at a refused request leaves out; None if the refusal has another cause.

        What a refusal names is left out. After one without a reason the header goes first and then all fields, but only
        as long as the server has answered no request that had them: after that they are not the cause.
        """
        carried -= left_out
        if status in NAMING and (named := frozenset(_named(carried, body))):
            return left_out | named
        if status not in SILENT or reason or self._proven:
            return None
        step = carried & {REQUEST_ID} or carried - RENAMED.keys()
        return left_out | step if step else None

    def answered(self, left_out: frozenset[str]) -> None:
        """Learns from a request that was answered, which left this out."""
        self._proven = True
        if not left_out <= self.left_out:
            self.left_out |= left_out


def instead_of(name: str) -> str:
    """Return what becomes of a header or field that a server refused, to follow the name of a request."""
    if name in RENAMED:
        return f"with {RENAMED[name]} in place of {name}"
    return f"without {name}"


def adapted(fields: dict[str, object], left_out: frozenset[str]) -> dict[str, object]:
    """Return the fields without those that are left out; renamed ones have their other name."""
    kept = {name: value for name, value in fields.items() if name not in left_out}
    return kept | {RENAMED[name]: fields[name] for name in RENAMED.keys() & left_out & fields.keys()}


def in_messages(body: bytes) -> frozenset[str]:
    """Return which of `OF_MESSAGES` a chat completion's request may have."""
    return frozenset(name for name in OF_MESSAGES if b'"%b"' % name.encode() in body)


def without_fields(value: object, names: Set[str]) -> object:
    """Return messages, or a part of them, without the fields of these names at any depth."""
    if isinstance(value, dict):
        return {name: without_fields(inner, names) for name, inner in value.items() if name not in names}
    return [without_fields(item, names) for item in value] if isinstance(value, list) else value


def _renamed_in(fields: Mapping[str, object]) -> set[str]:
    return {name for name, other in RENAMED.items() if name in fields and other not in fields}


def _named(names: Iterable[str], body: bytes) -> Iterator[str]:
    text = body[:MOST_READ].decode("utf-8", "replace")
    for name in names:
        words = [name, RENAMED[name]] if name in RENAMED else [name]
        if all(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text, re.IGNORECASE) for word in words):
            yield name
