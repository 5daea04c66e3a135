"""Reads agentic traces of Weka (callanjfox/kv-cache-tester, also used by AgentX): one conversation per line or
file.

A turn starts its think time after the response to the previous turn. Sub-agents run concurrently with the turns
of their parent agent. These turns do not wait for the sub-agents: if the parent waited for a sub-agent, that
time is part of the parent's think time. Recorded response times belong to another server and are not replayed.
The fields are documented in docs and files of the repository at commit 94f6046.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from benchwright.data.traces.blocks import block_ids
from benchwright.data.traces.decoding import check_not_negative_numbers, decode_line
from benchwright.data.traces.records import Conversation, TracedRequest, TraceLine

BLOCK_SIZE = 64


class WekaEntry(msgspec.Struct, rename={"input_tokens": "in", "output_tokens": "out", "kind": "type"}):
    """A request, or a sub-agent with requests of its own. `t` and `api_time` are in seconds."""

    t: float = 0.0
    kind: str = "s"
    input_tokens: int = 0
    output_tokens: int | None = None
    hash_ids: list[int] = []
    api_time: float = 0.0
    think_time: float | None = None
    requests: list[WekaEntry] = []


class WekaConversation(msgspec.Struct):
    """A conversation. If `hash_id_scope` is `local`, the block ids of the conversation are only valid within it."""

    id: str
    requests: list[WekaEntry]
    block_size: int = BLOCK_SIZE
    hash_id_scope: str = "local"


_decoder = msgspec.json.Decoder(WekaConversation)
_array = msgspec.json.Decoder(list[msgspec.Raw])


def read_conversations(lines: Iterable[TraceLine], block_size: int | None) -> Iterator[Conversation]:
    """Yield the conversations in the file's order. Their start times are unknown.

    Raises:
        UserError: If a line is invalid.
    """
    for line in lines:
        parts = decode_line(_array, line) if line.text.lstrip()[:1] == b"[" else [line.text]
        for part in parts:
            document = decode_line(_decoder, TraceLine(line.location, bytes(part)))
            reader = _Reader(
                f"{line.location}, {document.id}",
                block_size or document.block_size,
                "" if document.hash_id_scope == "global" else document.id,
            )
            reader.take(document.requests, None, 0.0)
            if reader.requests:
                yield Conversation(document.id, reader.requests)


class _Reader:
    """Merges the requests of a conversation and its sub-agents into one list, in which each request names its
    predecessor.
    """

    def __init__(self, place: str, block_size: int, scope: str) -> None:
        self.requests: list[TracedRequest] = []
        self._place = place
        self._block_size = block_size
        self._scope = scope

    def take(self, entries: Sequence[WekaEntry], after: int | None, wait: float) -> None:
        """Add a sequence of requests. It begins `wait` seconds after the response to request number `after`."""
        before: WekaEntry | None = None
        for entry in entries:
            gap = entry.t - (before.t + before.api_time) if before is not None else 0.0
            think = wait + max(0.0, gap if entry.think_time is None else entry.think_time)
            if entry.kind == "subagent":
                # `t` of the sub-agent is on its parent's clock; of its requests' `t`, only differences count.
                self.take(entry.requests, after, wait + max(0.0, gap if before is not None else entry.t))
                continue
            self.requests.append(self._request(entry, after, think))
            after, wait, before = len(self.requests) - 1, 0.0, entry

    def _request(self, entry: WekaEntry, after: int | None, think: float) -> TracedRequest:
        place = f"{self._place}, request {len(self.requests)}"
        check_not_negative_numbers(place, **{"in": entry.input_tokens, "out": entry.output_tokens})
        return TracedRequest(
            input_tokens=entry.input_tokens,
            output_tokens=entry.output_tokens,
            blocks=block_ids(place, entry.input_tokens, entry.hash_ids, self._block_size),
            block_size=self._block_size,
            scope=self._scope,
            previous_request=after,
            think_seconds=think,
        )
