"""Tool calls put together from the pieces in which a stream delivers them."""

from __future__ import annotations

from typing import Any


class ToolCalls:
    """Collects the tool calls of one message; pieces belong together by `index`, else by `id`.

    Where both are missing, a name after arguments begins the next call.
    """

    def __init__(self) -> None:
        self._calls: dict[int, dict[str, Any]] = {}
        self._last = -1

    def add(self, piece: dict[str, Any]) -> bool:
        """Takes one piece in; whether it carried anything of a call (a name or arguments).

        Raises:
            TypeError: the piece has not the shape of a tool call.
        """
        index = self._index(piece)
        call = self._calls.get(index)
        if call is None:
            call = self._calls[index] = {
                "id": None,
                "type": "function",
                "function": {"name": "", "arguments": ""},
            }
        self._last = index
        function = piece.get("function") or {}
        name, arguments = function.get("name") or "", function.get("arguments")
        call["id"] = piece.get("id") or call["id"]
        if name and name != call["function"]["name"]:
            call["function"]["name"] += name
        if isinstance(arguments, dict):  # some servers send the parsed object, whole
            import json

            arguments = json.dumps(arguments)
        call["function"]["arguments"] += arguments or ""
        return bool(name or arguments)

    def _index(self, piece: dict[str, Any]) -> int:
        index = piece.get("index")
        if isinstance(index, int):
            return index
        if self._last < 0:
            return 0
        call, identity = self._calls[self._last], piece.get("id")
        if identity:
            another = identity != call["id"]
        else:
            another = bool((piece.get("function") or {}).get("name") and call["function"]["arguments"])
        return self._last + 1 if another else self._last

    def finish(self) -> list[dict[str, Any]]:
        """The calls in the order of their index; a missing id is made up from it, empty arguments are {}."""
        calls = [self._calls[index] for index in sorted(self._calls)]
        for position, call in enumerate(calls):
            call["id"] = call["id"] or f"call_{position}"
            call["function"]["arguments"] = call["function"]["arguments"] or "{}"
        return calls
