"""What a trace is read into: conversations, whose requests say when they came and how long they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from benchwright.records import Message, Record


class TracedRequest(Record, frozen=True):
    """One recorded request.

    It comes `think` seconds after the answer to the request of its conversation with the number `after`; where that is
    None, so long after the conversation's start. It does not come before `at` seconds from the conversation's start.
    `input_tokens` is None where the trace tells only times, `output_tokens` where it does not tell the answer's length.
    `blocks` are the ids of the blocks of `block_size` tokens that the prompt begins with; equal ids of one `scope` are
    equal blocks. `messages` are there where the trace has the prompt itself, `fields` are further ones of its body.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    blocks: Sequence[int] = ()
    block_size: int = 0
    scope: str = ""
    after: int | None = None
    think: float = 0.0
    at: float = 0.0
    messages: list[Message] | None = None
    fields: dict[str, Any] = {}


class Conversation(Record, frozen=True):
    """Requests that belong together, a single one for most traces, each after those that it waits for.

    `at` is when it began, in seconds on the trace's clock; None where the trace does not relate conversations in time.
    """

    id: str
    requests: list[TracedRequest]
    at: float | None = None

    @property
    def flows(self) -> int:
        """How many of its requests none comes after: at most so many are under way at once."""
        return len(self.requests) - len({one.after for one in self.requests} - {None})

    def first(self, number: float) -> Conversation:
        """Its first requests, at most so many."""
        if number >= len(self.requests):
            return self
        return Conversation(self.id, self.requests[: int(number)], self.at)


class Trace(Record, frozen=True):
    """A trace as it was read: `kind` names its format, `conversations` come in the order of their beginnings.

    `left_out` counts rows of requests that failed when they were recorded.
    """

    kind: str
    conversations: list[Conversation]
    left_out: int = 0

    @property
    def timed(self) -> bool:
        """Whether it says when its conversations began."""
        return all(one.at is not None for one in self.conversations)

    @property
    def has_prompts(self) -> bool:
        """Whether it says what was asked, or how long it was, and not only when."""
        return all(
            request.input_tokens is not None or request.messages is not None for request in self.requests
        )

    @property
    def has_turns(self) -> bool:
        """Whether a conversation has more than one request."""
        return any(len(one.requests) > 1 for one in self.conversations)

    @property
    def parallel(self) -> int:
        """The most requests of one conversation that may be under way at once."""
        return max(one.flows for one in self.conversations)

    @property
    def requests(self) -> Iterator[TracedRequest]:
        """All requests, conversation by conversation."""
        return (request for one in self.conversations for request in one.requests)


class Line(NamedTuple):
    """A part of a trace's file: a line, or a whole document. `place` names it in messages."""

    place: str
    text: bytes
