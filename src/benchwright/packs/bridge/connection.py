"""The connection to a running process of a pack: calls of the pack's functions, progress, and the process's end."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchwright.packs.bridge.call_errors import (
    CallTimeout,
    PackFailure,
    ProcessDied,
    describe_process_end,
    format_error,
)
from benchwright.packs.bridge.child_process import PackChildProcess
from benchwright.packs.bridge.commands import CommandBuilder
from benchwright.packs.bridge.frames import ChannelBroken, Frame, FrameReader, decode_json
from benchwright.packs.bridge.limits import BridgeLimits

LogCallback = Callable[[str, str, Any], None]
"""Function that receives an entry for the log, or output of the pack, as (level, message, data).

Levels: debug, info, warn, error, stdout, stderr.
"""

ProgressCallback = Callable[[dict[str, Any]], None]

MAX_EVENTS = 10_000
"""Maximum number of progress events of one scenario that are passed on."""


class Reply(NamedTuple):
    """The result of a call.

    `metadata`: the call's startedAt, durationMs and trouble (a failed provider request).
    `unrepresentable_numbers`: a mapping from the keys of numbers that JSON cannot represent to these numbers'
    names; see `result_parsing`.
    """

    value: Any
    unrepresentable_numbers: dict[str, str]
    metadata: dict[str, Any]


@dataclass
class _Call:
    name: str
    future: asyncio.Future[Reply | PackFailure | ProcessDied]
    progress: ProgressCallback | None
    rejected: str | None = None
    events: int = 0

    def settle(self, with_what: Reply | PackFailure | ProcessDied) -> None:
        if not self.future.done():
            self.future.set_result(with_what)


class Connection:
    """A running process of a pack. `is_over`: True once the process has ended or is about to end."""

    def __init__(self, limits: BridgeLimits, log: LogCallback) -> None:
        self.is_over = False
        self.prepared = False
        self._limits = limits
        self._log = log
        self._nonce = secrets.token_hex(16)
        self._frames = FrameReader(self._nonce, limits.message_bytes, self._noise)
        self._child = PackChildProcess(self._received, self._printed, limits)
        self._calls: dict[int, _Call] = {}
        self._count = 0
        self._inside: int | None = None
        self._overdue: set[int] = set()
        self._ended_by: int | None = None
        self._reason: str | None = None
        self._said: set[str] = set()
        self._log_bytes = 0
        self._child.gone.add_done_callback(self._gone)

    async def start(
        self, command: CommandBuilder, environment: Mapping[str, str], folder: Path, settings: dict[str, Any]
    ) -> None:
        """Start the process and send it the settings.

        Raises:
            ExecutionError: If the process cannot be started.
        """
        await self._child.start(command, environment, folder, self._limits.memory_bytes)
        self._send({"nonce": self._nonce, "messageBytes": self._limits.message_bytes, **settings})

    async def stop(self) -> None:
        """End the process and all processes that it started."""
        self.is_over = True
        self._reason = self._reason or "the pack was closed"
        await self._child.stop()

    # Calls

    def start_call(self, name: str, fields: dict[str, Any], progress: ProgressCallback | None = None) -> int:
        """Call a function of the pack. Return the number of the call, for `wait_for_result` and `abort`."""
        self._count += 1
        call = _Call(name, asyncio.get_running_loop().create_future(), progress)
        if self._child.gone.done():
            call.settle(ProcessDied("the pack's process had ended", is_cause=False, may_be_cause=False))
        self._calls[self._count] = call
        self._send({"id": self._count, "call": name, **fields})
        return self._count

    async def wait_for_result(self, number: int, seconds: float | None, grace: float = 0.0) -> Reply:
        """Wait for the result of a call.

        After `seconds`, an abort signal is sent to the call, which gets `grace` more seconds to end.

        Raises:
            PackFailure: If the pack's code failed.
            ProcessDied: If the process ended during the call.
            CallTimeout: If the call did not end in time.
        """
        call = self._calls[number]
        try:
            await asyncio.wait({call.future}, timeout=seconds)
            if not call.future.done():
                assert seconds is not None
                raise await self._out_of_time(number, seconds, grace)
        except asyncio.CancelledError:
            self.abort(number, "AbortError", "the run was stopped")
            self._give_up(number)
            raise
        finally:
            self._calls.pop(number, None)
        settled = call.future.result()
        if isinstance(settled, Reply):
            return settled
        raise settled

    def abort(self, number: int, name: str, message: str) -> None:
        """Send an abort signal to a running scenario. The reason in the signal is a DOMException of this name."""
        self._send({"call": "abort", "of": number, "reason": {"name": name, "message": message}})

    async def _out_of_time(self, number: int, seconds: float, grace: float) -> CallTimeout | ProcessDied:
        call = self._calls[number]
        if grace:
            self.abort(number, "TimeoutError", f"the scenario did not end within {seconds:g} s")
            await asyncio.wait({call.future}, timeout=grace)
        stuck = False
        if not call.future.done() and call.name != "dispose":  # after dispose, the process ends anyway
            asked = self._give_up(number)
            await asyncio.wait({asked})
            lost = asked.result()
            stuck = isinstance(lost, ProcessDied)
            if isinstance(lost, ProcessDied) and self._inside not in (
                None,
                number,
            ):  # another call blocks the process
                return ProcessDied(lost.reason, is_cause=False, may_be_cause=False)
        return CallTimeout(seconds, stuck, call.rejected)

    def _give_up(self, number: int) -> asyncio.Future[Reply | PackFailure | ProcessDied]:
        """Abandon a call that does not end. If the process does not answer a ping either, end the process."""
        self._calls.pop(number, None)
        self._overdue.add(number)
        self._send({"call": "forget", "of": number})
        asked = self.start_call("ping", {})
        future = self._calls[asked].future
        asyncio.get_running_loop().call_later(self._limits.answer_seconds, self._end_if_stuck, future)
        return future

    def _end_if_stuck(self, asked: asyncio.Future[Reply | PackFailure | ProcessDied]) -> None:
        if not asked.done():
            seconds = self._limits.answer_seconds
            self.request_end(
                f"the pack's process did not answer for {seconds:g} s (an endless loop?) and was ended"
            )

    def request_end(self, reason: str) -> None:
        """Start to end the process and all processes that it started. Do not wait for their end."""
        self.is_over = True
        self._reason = self._reason or reason
        self._child.request_end()

    def _send(self, message: dict[str, Any]) -> None:
        self._child.send(msgspec.json.encode(message))

    # Messages from the process

    def _received(self, data: bytes) -> None:
        try:
            for frame in self._frames.feed(data):
                self._take(frame)
        except ChannelBroken:
            self.request_end("the pack wrote into the bridge's channel; its process was ended")

    def _take(self, frame: Frame) -> None:
        call = self._calls.get(frame.call_number)
        if frame.kind == "entered":
            self._inside = frame.call_number
            return
        if frame.kind == "left":
            self._inside = None
            return
        if self._inside == frame.call_number and frame.kind in ("ok", "error"):
            self._inside = None
        try:
            self._handle(frame, call, decode_json(frame.json))
        except ValueError as error:
            if call is not None:
                call.settle(PackFailure({"message": f"it cannot be read: {error}", "unusable": True}))

    def _handle(self, frame: Frame, call: _Call | None, said: Any) -> None:
        if frame.kind == "log":
            self._logged(len(frame.json), *said)
        elif frame.kind == "progress":
            self._progressed(call, said)
        elif frame.kind == "ok" and call is not None:
            self._calls.pop(frame.call_number) if call.name == "ping" else None
            call.settle(Reply(said["value"], said["odd"], said["about"]))
        elif frame.kind == "error" and call is not None:
            call.settle(PackFailure(said["error"], said["about"]))
        elif frame.kind == "ending":
            self._ended_by = frame.call_number or None
            self.request_end(f"the pack called {said['how']}")
        elif frame.kind == "signalled":
            self._ended_by = frame.call_number or None
        elif frame.kind in ("uncaught", "rejected"):
            self._uncaught(frame, call, said)

    def _uncaught(self, frame: Frame, call: _Call | None, error: dict[str, Any]) -> None:
        text = format_error(error)
        if frame.call_number == 0 and frame.kind == "uncaught" and len(self._calls) == 1:
            (call,) = self._calls.values()
        if frame.kind == "rejected":
            self._log("warn", f"unhandled promise rejection: {text}", error.get("stack"))
            if call is not None:
                call.rejected = text
            return
        self._log("error", f"an exception was not caught: {text}", error.get("stack"))
        if call is not None:
            call.settle(PackFailure({**error, "uncaught": True}))

    def _logged(self, size: int, level: str, message: str, meta: Any) -> None:
        self._log_bytes += size
        if self._log_bytes <= self._limits.output_bytes:
            self._log(level, message, meta)
        else:
            self._say_once("the pack logs too much: further output is dropped")

    def _progressed(self, call: _Call | None, event: Any) -> None:
        if call is None or call.progress is None or not isinstance(event, dict):
            return
        call.events += 1
        if call.events <= MAX_EVENTS:
            call.progress(event)
        else:
            self._say_once(f"a scenario had more than {MAX_EVENTS} progress events: the others are left out")

    def _noise(self, line: bytes) -> None:
        self._say_once("the pack wrote to the bridge's channel; this is ignored")

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._log("warn", text, None)

    def _printed(self, stream: str, text: str) -> None:
        self._log(stream, text, None)

    # End of the process

    def _gone(self, _: object) -> None:
        self.is_over = True
        reason = self._reason or describe_process_end(
            self._child.ending, self._child.last_error, self._limits
        )
        culprits = self._culprits()
        for number, call in list(self._calls.items()):
            call.settle(ProcessDied(reason, number in culprits, may_be_cause=not culprits))

    def _culprits(self) -> set[int]:
        """Return the numbers of the calls that caused the end of the process.

        Return an empty set if they are unknown.
        """
        if self._ended_by is not None:
            return {self._ended_by}
        if self._inside is not None:
            return {self._inside}
        running = {number for number, call in self._calls.items() if call.name != "ping"}
        return set(self._overdue) or (running if len(running) == 1 else set())
