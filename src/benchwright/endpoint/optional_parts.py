"""Optional parts of requests that Benchwright adds by itself, and a record of the parts that a server has refused.

A part is a header or a field. A strict server may refuse a part that other servers accept. If Benchwright
added the part, the request is sent again without it. If that succeeds, later requests of the client omit the
part, too. Parts that the user asked for are never left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set

from benchwright.endpoint.request_heads import REQUEST_ID_HEADER

STREAM_FIELD = "stream"
STREAM_OPTIONS_FIELD = "stream_options"

RENAMED_FIELDS = {"max_tokens": "max_completion_tokens"}
"""Fields for which some servers require another name: a mapping from the usual name to the required name.

A refusal by such a server contains the required name. Fields that the user set are renamed, too.
"""

NONSTANDARD_MESSAGE_FIELDS = frozenset(
    {
        *("provider_specific_fields", "cache_control", "annotations", "reasoning_content"),
        *("reasoning_details", "thinking_blocks"),
    }
)
"""Fields of messages that the API's reference does not have.

Client libraries and other providers add these fields, and programs (such as mini-swe-agent with LiteLLM) send
them back within a conversation. Groq, OpenAI and others refuse them.
"""

NAMED_REFUSAL_STATUSES = frozenset({400, 422, 500, 501})
"""HTTP statuses of refusals that name the refused part. Gateways that translate requests use 500."""

UNEXPLAINED_REFUSAL_STATUSES = frozenset({400, 422})
"""HTTP statuses of refusals that may come without a reason."""

MAX_REFUSAL_BYTES = 16_384
"""Number of bytes at the beginning of a refusal that are searched for the names of parts."""

NO_NAMES: frozenset[str] = frozenset()


class RefusedParts:
    """The optional parts of requests that the server of one client has refused.

    `left_out`: the names of the refused headers and fields. `own`: the names of settings that Benchwright
    added without being asked by the user, such as the seed of a protocol.
    """

    def __init__(self, own: Set[str] = NO_NAMES) -> None:
        self.left_out = NO_NAMES
        self.own = frozenset(own)
        self._proven = False

    def optional_parts(self, fields: Mapping[str, object], *, stream: bool, sends_id: bool) -> frozenset[str]:
        """Return the names of the parts that a request with these fields may omit or rename after a refusal."""
        names = {REQUEST_ID_HEADER} if sends_id else set()
        if stream:
            names |= {STREAM_FIELD, STREAM_OPTIONS_FIELD} - fields.keys()
        return frozenset(names | (self.own & fields.keys()) | _renamed_in(fields)) - self.left_out

    def relayed_optional_parts(self, added: Set[str], *, sends_id: bool) -> frozenset[str]:
        """Return the names of the parts that a program's request may omit or rename after a refusal.

        `added`: the names of the fields that Benchwright added, and of message fields that the API's
        reference lacks.
        """
        fields = added & {STREAM_OPTIONS_FIELD, *RENAMED_FIELDS, *NONSTANDARD_MESSAGE_FIELDS, *self.own}
        return frozenset({REQUEST_ID_HEADER} | fields if sends_id else fields)

    def parts_to_omit(
        self, left_out: frozenset[str], carried: frozenset[str], status: int, body: bytes, reason: str
    ) -> frozenset[str] | None:
        """Return the parts to leave out of the next attempt at a refused request.

        Return None if the refusal has another cause.

        Parts that the refusal names are left out. If the refusal gives no reason, the header is left out
        first, and all fields after the next refusal. A refusal without a reason is treated like this only
        until the server has answered a request. After that, optional parts cannot be the cause.
        """
        carried -= left_out
        if status in NAMED_REFUSAL_STATUSES and (named := frozenset(_named(carried, body))):
            return left_out | named
        if status not in UNEXPLAINED_REFUSAL_STATUSES or reason or self._proven:
            return None
        step = carried & {REQUEST_ID_HEADER} or carried - RENAMED_FIELDS.keys()
        return left_out | step if step else None

    def record_success(self, left_out: frozenset[str]) -> None:
        """Record that a request without these parts succeeded, so that later requests omit the parts, too."""
        self._proven = True
        if not left_out <= self.left_out:
            self.left_out |= left_out


def omission_phrase(name: str) -> str:
    """Return a phrase that says that a refused header or field is omitted.

    The phrase follows the word "request" in a sentence.
    """
    if name in RENAMED_FIELDS:
        return f"with {RENAMED_FIELDS[name]} in place of {name}"
    return f"without {name}"


def omit_fields(fields: dict[str, object], left_out: frozenset[str]) -> dict[str, object]:
    """Return the fields without those in `left_out`.

    A field in `left_out` that has another name in `RENAMED_FIELDS` is renamed instead of left out.
    """
    kept = {name: value for name, value in fields.items() if name not in left_out}
    return kept | {
        RENAMED_FIELDS[name]: fields[name] for name in RENAMED_FIELDS.keys() & left_out & fields.keys()
    }


def find_message_fields(body: bytes) -> frozenset[str]:
    """Return the names in `NONSTANDARD_MESSAGE_FIELDS` that occur in the body of a chat completions request."""
    return frozenset(name for name in NONSTANDARD_MESSAGE_FIELDS if b'"%b"' % name.encode() in body)


def remove_fields(value: object, names: Set[str]) -> object:
    """Return messages, or a part of a message, without the fields named in `names`, at any depth."""
    if isinstance(value, dict):
        return {name: remove_fields(inner, names) for name, inner in value.items() if name not in names}
    return [remove_fields(item, names) for item in value] if isinstance(value, list) else value


def _renamed_in(fields: Mapping[str, object]) -> set[str]:
    return {name for name, other in RENAMED_FIELDS.items() if name in fields and other not in fields}


def _named(names: Iterable[str], body: bytes) -> Iterator[str]:
    text = body[:MAX_REFUSAL_BYTES].decode("utf-8", "replace")
    for name in names:
        words = [name, RENAMED_FIELDS[name]] if name in RENAMED_FIELDS else [name]
        if all(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text, re.IGNORECASE) for word in words):
            yield name
