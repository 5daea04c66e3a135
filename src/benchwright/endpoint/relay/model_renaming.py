"""A response in which the target's name of the model is replaced by the name that the program requested."""

from __future__ import annotations

import msgspec

from benchwright.endpoint.connection import Connection
from benchwright.endpoint.connection import Headers as AnswerHeaders
from benchwright.endpoint.relay.relayed_answer import RelayedAnswer
from benchwright.endpoint.serving.http import JSON_CONTENT_TYPE
from benchwright.records import DECODE_ERRORS

_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class ModelRenamer:
    """A receiver that replaces the model in a response by the requested `name`, as Bench Protocol's relay does.

    `name`: the requested name as a JSON string. Only the top-level `model` of a response that is one JSON
    object is replaced. Such a response is held until it is complete. Streams and errors are passed on
    unchanged as they arrive.
    """

    def __init__(self, answer: RelayedAnswer, name: msgspec.Raw) -> None:
        self._answer = answer
        self._name = name
        self._headers: AnswerHeaders = []
        self._held: bytearray | None = None

    def set_connection(self, connection: Connection) -> None:
        """Store the connection to the target, so that it can be paused while the program is not reading."""
        self._answer.set_connection(connection)

    def receive_head(self, status: int, headers: AnswerHeaders) -> None:
        """Begin the response, unless it is held until it is complete."""
        kind = next((value for name, value in headers if name == b"content-type"), b"")
        self._held = None
        if status == 200 and kind.lower().startswith(JSON_CONTENT_TYPE):
            self._headers, self._held = headers, bytearray()
        else:
            self._answer.receive_head(status, headers)

    def receive_data(self, chunk: bytes) -> None:
        """Pass a piece of the body on. If the response is held until it is complete, store the piece."""
        if self._held is None:
            self._answer.receive_data(chunk)
        else:
            self._held += chunk

    def complete(self) -> None:
        """Complete the response."""
        if self._held is not None:
            body = self._renamed(bytes(self._held))
            kept = [(name, value) for name, value in self._headers if name != b"content-length"]
            self._answer.receive_head(200, [*kept, (b"content-length", b"%d" % len(body))])
            self._answer.receive_data(body)
        self._answer.complete()

    def _renamed(self, body: bytes) -> bytes:
        try:
            fields = _decode(body)
        except DECODE_ERRORS:
            return body
        return msgspec.json.encode({**fields, "model": self._name}) if "model" in fields else body
