"""A running scenario, with its abort signal, its endpoint and its progress events."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any

from .channel import Channel
from .values import to_json

LARGEST_EVENT = 256 * 1024
CELL: contextvars.ContextVar[Cell | None] = contextvars.ContextVar("benchwright_cell", default=None)


class AbortSignal:
    """The signal that a scenario should end: whether it was sent (`aborted`), its `reason`, and listeners.

    Listeners are called when the signal is sent. The object can be used from any thread.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self._event = threading.Event()
        self._listeners: list[Callable[[], Any]] = []

    @property
    def aborted(self) -> bool:
        """True if the scenario should end."""
        return self._event.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait at most `seconds` for the signal. Return True if the scenario should end.

        The method blocks, so call it only in functions that run in threads.
        """
        return self._event.wait(seconds)

    def throw_if_aborted(self) -> None:
        """Raise InterruptedError if the scenario should end."""
        if self.aborted:
            raise InterruptedError(self.reason)

    def add_listener(self, listener: Callable[[], Any]) -> None:
        """Call `listener` when the scenario is aborted. If it is already aborted, call `listener` at once."""
        self._listeners.append(listener)
        if self.aborted:
            listener()

    def _abort(self, reason: str) -> None:
        if not self.aborted:
            self.reason = reason
            self._event.set()
            for listener in self._listeners:
                listener()


class Emitter:
    """Sends progress events to the host: call `emit({...})`, or `await emit({...})`."""

    def __init__(self, channel: Channel, call: int) -> None:
        self.over = False
        self._channel = channel
        self._call = call

    def __call__(self, event: Any) -> _Done:
        """Send an event of a running scenario. An event that is too large or is not JSON is dropped."""
        try:
            text, _ = to_json(event)
        except (TypeError, ValueError):
            return _Done()
        if not self.over and len(text) <= LARGEST_EVENT:
            self._channel.send(self._call, "progress", text)
        return _Done()


class _Done:
    def __await__(self) -> Any:
        return iter(())


class Cell:
    """A running scenario. `trouble`: why the scenario's last request to its provider failed; None if it succeeded."""

    def __init__(self, given: dict[str, Any], context: dict[str, Any], channel: Channel) -> None:
        self.signal = AbortSignal()
        self.emit = Emitter(channel, given["id"])
        self.input = {**given["input"], "abortSignal": self.signal}
        self.context = context
        self.token: str | None = given["token"]
        self.trouble: dict[str, Any] | None = None
        self.task: asyncio.Task[Any] | None = None

    def abort(self, reason: dict[str, str]) -> None:
        """Set the abort signal, and call the pack's listeners."""
        self.signal._abort(reason["message"])

    def end(self) -> None:
        """Cancel the scenario's task. From now on, send no more events of the scenario."""
        self.emit.over = True
        if self.task is not None:
            self.task.cancel()
