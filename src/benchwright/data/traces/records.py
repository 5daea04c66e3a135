"""Traces as conversations of requests with recorded times and lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from benchwright.records import Message, Record


class TracedRequest(Record, frozen=True):
    """One recorded request.

    It is sent `think_seconds` seconds after the response to request number `previous_request` of its
    conversation. If `previous_request` is None, it is sent `think_seconds` seconds after the start of the
    conversation. It is never sent earlier than `earliest_seconds` seconds after the start of the conversation.

    - `input_tokens`: length of the prompt; None if the trace has only times.
    - `output_tokens`: length of the output; None if the trace lacks it.
    - `blocks`: ids of the blocks of `block_size` tokens with which the prompt begins. Equal ids with the same
      `scope` stand for equal blocks.
    - `messages`: the prompt itself, if the trace has it.
    - `fields`: further fields of the request body.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    blocks: Sequence[int] = ()
    block_size: int = 0
    scope: str = ""
    previous_request: int | None = None
    think_seconds: float = 0.0
    earliest_seconds: float = 0.0
    messages: list[Message] | None = None
    fields: dict[str, Any] = {}


class Conversation(Record, frozen=True):
    """Requests that belong together (a single one in most traces).

    A request waits for the response to an earlier request, or only for the conversation's start.
    `start_seconds`: the conversation's start in seconds on the trace's clock. None if the trace does not
    relate the times of its conversations to each other.
    """

    id: str
    requests: list[TracedRequest]
    start_seconds: float | None = None

    @property
    def max_requests_in_flight(self) -> int:
        """Maximum number of requests in flight at once: the number of requests that no other request waits
        for.
        """
        return len(self.requests) - len({one.previous_request for one in self.requests} - {None})

    def first_requests(self, number: float) -> Conversation:
        """Return the conversation with only its first requests, at most `number` of them."""
        if number >= len(self.requests):
            return self
        return Conversation(self.id, self.requests[: int(number)], self.start_seconds)


class Trace(Record, frozen=True):
    """A recorded load. `format`: the name of the trace's format. `conversations`: sorted by start.

    `failed_requests`: number of requests that failed when they were recorded.
    """

    format: str
    conversations: list[Conversation]
    failed_requests: int = 0

    @property
    def has_start_times(self) -> bool:
        """True if the start of each conversation is known."""
        return all(one.start_seconds is not None for one in self.conversations)

    @property
    def has_prompts(self) -> bool:
        """True if each request has its prompt or the length of its prompt, and not only its time."""
        return all(
            request.input_tokens is not None or request.messages is not None for request in self.requests
        )

    @property
    def has_turns(self) -> bool:
        """True if a conversation has more than one request."""
        return any(len(one.requests) > 1 for one in self.conversations)

    @property
    def max_requests_in_flight(self) -> int:
        """Largest number of requests that one conversation of the trace may have in flight at once."""
        return max(one.max_requests_in_flight for one in self.conversations)

    @property
    def requests(self) -> Iterator[TracedRequest]:
        """All requests, conversation by conversation."""
        return (request for one in self.conversations for request in one.requests)


class TraceLine(NamedTuple):
    """A line of a trace file, or a whole document. `location`: the file and line, for error messages."""

    location: str
    text: bytes
