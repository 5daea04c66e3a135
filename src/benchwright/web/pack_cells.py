"""The progress of the running cells (one scenario with one model) of a pack's run, from its growing event
log.
"""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from benchwright.packs.run_files import EVENTS, RENDERED
from benchwright.records import DECODE_ERRORS


class LiveCellReader:
    """Reads a growing events.jsonl.

    `messages` maps the (model id, scenario id) of each running cell to its last progress message.
    """

    def __init__(self, directory: Path) -> None:
        self.messages: dict[tuple[str, str], str] = {}
        self.position = 0
        self._path = directory / RENDERED / EVENTS
        self._lock = Lock()

    def read_new_events(self) -> dict[tuple[str, str], str]:
        """Read the events added since the last call, and return a copy of the messages."""
        with self._lock:
            try:
                with self._path.open("rb") as file:
                    file.seek(self.position)
                    for line in file:
                        if not line.endswith(b"\n"):
                            break
                        self._take(line)
                        self.position += len(line)
            except OSError:  # the pack has not begun yet
                pass
            return dict(self.messages)

    def _take(self, line: bytes) -> None:
        try:
            event: Any = msgspec.json.decode(line)
        except DECODE_ERRORS:
            return
        if not isinstance(event, dict):
            return
        kind, cell = event.get("type"), (str(event.get("modelId")), str(event.get("scenarioId")))
        if kind == "model_progress":
            self.messages[cell] = str(event.get("message") or "")
        elif kind == "scenario_result":
            self.messages.pop(cell, None)
        elif kind in ("run_started", "run_finished", "run_error"):
            self.messages.clear()
