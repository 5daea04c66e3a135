"""Tool calls assembled from the deltas of a stream."""

from __future__ import annotations

from typing import Any

from benchwright.endpoint.call_arguments import read_object_arguments
from benchwright.endpoint.json_reading import join_surrogates
from benchwright.endpoint.tool_call_deltas import ToolCallDelta, read_call_entry, read_tool_calls

MAX_REPEAT_CHECKS = 16
"""Maximum number of checks of one call for repeated arguments. Each check decodes all arguments of the call."""

EMPTY_ARGUMENTS = "{}"
"""JSON text of the arguments of a call without arguments."""


class PartialToolCall:
    """One tool call, as far as it was received.

    `has_arguments`: True once the server sent any arguments, even an empty object.
    """

    __slots__ = ("arguments", "has_arguments", "id", "looks", "name")

    def __init__(self) -> None:
        self.id: str | None = None
        self.name = ""
        self.arguments: list[str] = []  # pieces, because appending to a string would copy it for each of them
        self.has_arguments = False
        self.looks = MAX_REPEAT_CHECKS

    def arguments_text(self) -> str:
        """Return the arguments received so far. Return "{}" if none were received."""
        return join_surrogates("".join(self.arguments)) or EMPTY_ARGUMENTS

    def differs_from(self, text: str) -> bool | None:
        """Compare further arguments (`text`) with the arguments received so far.

        Return True if both are complete objects and they differ: `text` then belongs to another call. Return
        False if they are equal: `text` then repeats the arguments. Return None if either is not a complete
        object: `text` then continues the arguments.
        """
        if not self.arguments or not (text.startswith("{") and text.rstrip().endswith("}")) or not self.looks:
            return None
        self.looks -= 1
        further = read_object_arguments(text)
        so_far = None if further is None else read_object_arguments(self.arguments_text())
        return None if so_far is None else so_far != further


class ToolCallAccumulator:
    """The tool calls of one message, assembled from the deltas of the message.

    Deltas with the same index belong to one call. If there is no index, deltas with the same id do. But some
    servers number all calls 0 (Ollama, gateways before Gemini), send a call again when it is complete, use
    one id for two calls (llama.cpp), or use another id for each delta. So a name decides: a delta with a name
    begins another call if its id is new, or if arguments were already received.

    Missing ids are made from `prefix` and the call's position. After `finish`, `unread` lists the invalid
    calls.
    """

    def __init__(self, prefix: str = "call_") -> None:
        self.unread: list[str] = []
        self._prefix = prefix
        self._calls: dict[Any, list[PartialToolCall]] = {}
        self._last = -1

    @property
    def first_call(self) -> PartialToolCall | None:
        """The call at index 0, as far as it was received; None if there is no such call yet."""
        calls = self._calls.get(0)
        return calls[0] if calls else None

    def make_call_id(self, place: int) -> str:
        """Return an id for the call at this position, because the server sent none."""
        return f"{self._prefix}{place}"

    def add_all(self, message: dict[str, Any], *, whole: bool = False) -> bool:
        """Add the calls of a delta, or of a `whole` message.

        Return True if any of the calls had a name or arguments.
        """
        deltas = message.get("tool_calls")
        if type(deltas) is list and len(deltas) == 1 and not whole:
            return self.add_entry(deltas[0])
        came = [self.add_delta(piece) for piece in read_tool_calls(message, whole=whole)]
        return any(came)

    def add_entry(self, delta: Any) -> bool:
        """Add one entry of a delta's `tool_calls`. Return True if the entry had a name or arguments.

        Raises:
            TypeError: If the entry does not have the shape of a tool call.
        """
        if self._goes_on(delta):
            return True
        return delta is not None and self.add_delta(read_call_entry(delta))

    def _goes_on(self, delta: Any) -> bool:
        """Add a delta that only continues the arguments of a call, and return True. Most deltas do.

        Return False if the delta is of another kind.
        """
        if type(delta) is not dict or delta.get("id"):
            return False
        function, calls = delta.get("function"), self._calls.get(delta.get("index", ""))
        if not calls or type(function) is not dict or function.get("name"):
            return False
        arguments = function.get("arguments")
        if type(arguments) is not str or not arguments or arguments[0] == "{" or not calls[-1].arguments:
            return False
        calls[-1].arguments.append(arguments)
        return True

    def add_delta(self, piece: ToolCallDelta) -> bool:
        """Add a piece of a call. Return True if the piece had a name or arguments."""
        name, arguments = piece.name, piece.arguments
        if not (name or arguments or piece.id):
            return False
        index = self._last = self._index(piece)
        calls = self._calls.setdefault(index, [])
        call = _call_of(piece, calls)
        differs = call.differs_from(arguments) if call is not None else None
        if call is None or (name and _begins_another(call, piece, differs)):
            call, differs = PartialToolCall(), None
            calls.append(call)
        call.id = piece.id or call.id
        if name and name != call.name:
            call.name += name
        if arguments:
            call.has_arguments = True
            if differs is not False and (call.arguments or arguments.strip() != EMPTY_ARGUMENTS):
                call.arguments.append(arguments)
        return bool(name or arguments)

    def _index(self, piece: ToolCallDelta) -> int:
        if piece.index is not None:
            return piece.index
        if self._last < 0:
            return 0
        call = self._calls[self._last][-1]
        another = piece.id != call.id if piece.id else bool(piece.name and call.has_arguments)
        return self._last + 1 if another else self._last

    def finish(self) -> list[dict[str, Any]]:
        """Return the calls in the order of their index, in the format of a message.

        Invalid calls are listed in `unread`.
        """
        if not self._calls:
            return []
        calls = [call for index in sorted(self._calls) for call in self._calls[index]]
        ids: set[str] = set()
        finished = []
        for place, call in enumerate(_without_copies(_joined(calls))):
            identity = call.id if call.id and call.id not in ids else self.make_call_id(place)
            ids.add(identity)
            arguments = _last_if_cumulative(call.arguments) or call.arguments_text()
            if not call.name:
                self.unread.append(f"a call without a name: {arguments}")
            elif read_object_arguments(arguments) is None:
                self.unread.append(f"{call.name}: {arguments}")
            function = {"name": join_surrogates(call.name), "arguments": arguments}
            finished.append({"id": identity, "type": "function", "function": function})
        return finished


def _call_of(piece: ToolCallDelta, calls: list[PartialToolCall]) -> PartialToolCall | None:
    """Return the call that a piece continues. Return None if `calls`, the calls at the piece's index, is empty.

    A piece with an id but without a name continues the call with that id. Any other piece continues the last
    call.
    """
    if piece.id and not piece.name and len(calls) > 1:
        return next((call for call in calls if call.id == piece.id), calls[-1])
    return calls[-1] if calls else None


def _begins_another(call: PartialToolCall, piece: ToolCallDelta, differs: bool | None) -> bool:
    if piece.id and call.id and piece.id != call.id:
        return True
    if piece.name != call.name:
        return call.has_arguments and bool(call.name)
    return bool(differs)


def _joined(calls: list[PartialToolCall]) -> list[PartialToolCall]:
    """Join neighbouring calls of one name if their arguments are a JSON object only when joined.

    The deltas of such a call had different ids.
    """
    joined: list[PartialToolCall] = []
    for call in calls:
        before = joined[-1] if joined else None
        if before is not None and before.name == call.name and before.arguments and call.arguments:
            together = [*before.arguments, *call.arguments]
            if (
                read_object_arguments(before.arguments_text()) is None
                and read_object_arguments("".join(together)) is not None
            ):
                before.arguments = together
                continue
        joined.append(call)
    return joined


def _without_copies(calls: list[PartialToolCall]) -> list[PartialToolCall]:
    """Return the calls without empty calls. If a call was sent twice with one id (LocalAI), keep only one copy."""
    kept: list[PartialToolCall] = []
    for call in calls:
        twin = next((one for one in kept if call.id and (one.id, one.name) == (call.id, call.name)), None)
        if twin is not None and (
            not twin.arguments or call.arguments_text() in (EMPTY_ARGUMENTS, twin.arguments_text())
        ):
            twin.arguments = twin.arguments or call.arguments
        elif call.name or call.arguments:
            kept.append(call)
    return kept


def _last_if_cumulative(pieces: list[str]) -> str | None:
    """Return the last piece if it is an object and each piece repeats the piece before it. Return None otherwise."""
    if len(pieces) < 2 or not all(map(str.startswith, pieces[1:], pieces)):
        return None
    last = join_surrogates(pieces[-1])
    return None if read_object_arguments(last) is None else last
