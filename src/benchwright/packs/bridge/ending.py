"""How a pack's process ended, and what its code threw, each in one line."""

from __future__ import annotations

import signal
from typing import Any

from benchwright.packs.bridge.limits import MEBI, BridgeLimits
from benchwright.text import one_line

LONGEST = 400
CHANNEL_LOST = 70
"""Exit code of both sides' helpers where the channel does not work any more."""


def describe_ending(ending: str, last_error: str, limits: BridgeLimits) -> str:
    """The keeper's word on the end ("exit 3", "signal 9", "memory", "trouble …") and the last line of stderr."""
    kind, _, what = ending.partition(" ")
    said = f": {one_line(last_error, LONGEST)}" if last_error else ""
    if kind == "memory" or "heap out of memory" in last_error:
        return f"the pack used more than the {limits.memory_bytes // MEBI} MiB of memory it is allowed"
    if kind == "trouble":
        return f"the pack's process cannot be started: {what}"
    if kind == "exit" and what == str(CHANNEL_LOST):
        return "the pack closed the bridge's channel, and its process was ended"
    if kind == "exit":
        return f"the pack's process ended with exit code {what}{said}"
    return f"the pack's process was ended by {_signal_name(what)}{said}"


def _signal_name(number: str) -> str:
    try:
        return signal.Signals(int(number)).name
    except ValueError:
        return f"signal {number}"


def thrown(error: dict[str, Any]) -> str:
    """An error of the pack's as "Name: message"; one that is named Error as its message alone."""
    name, message = str(error.get("name") or ""), str(error.get("message") or "")
    return one_line(message if name in ("", "Error") else f"{name}: {message}", LONGEST)
