"""Writes events.jsonl and host.log during a run, in the run's directory `rendered`.

events.jsonl contains the events of Bench Protocol. host.log has the format of the desktop host (BenchLocal).
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import msgspec

from benchwright.packs.events import ProgressEvent
from benchwright.records import DECODE_ERRORS, RequestRecord
from benchwright.runs.journal import encode_json
from benchwright.secrets import SECRETS
from benchwright.text import make_safe, truncate

RENDERED, EVENTS, HOST_LOG = "rendered", "events.jsonl", "host.log"

MAX_LINE_LENGTH = 20_000
"""Maximum length of a line of host.log, in characters."""


class PackFiles:
    """Writes events.jsonl and host.log during the run. Use it as a context manager.

    Lines that do not fit on a full disk are dropped. The journal reports the full disk.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory / RENDERED
        self.requests = 0
        self._events: IO[bytes] | None = None
        self._log: IO[str] | None = None

    def __enter__(self) -> PackFiles:
        self.directory.mkdir(parents=True, exist_ok=True)
        self._events = (self.directory / EVENTS).open("a+b", buffering=0)
        if self._events.tell() and os.pread(self._events.fileno(), 1, self._events.tell() - 1) != b"\n":
            self._events.write(b"\n")  # the last line was cut off by a full disk
        self._log = (self.directory / HOST_LOG).open("a", encoding="utf-8", buffering=1)
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self._events, self._log):
            if file is not None:
                file.close()

    def write_event(self, event: ProgressEvent) -> None:
        """Write an event as one line."""
        if self._events is not None:
            with suppress(OSError):
                self._events.write(encode_json(event) + b"\n")

    def write_log_line(self, level: str, message: str, meta: Any) -> None:
        """Write a line to host.log in BenchLocal's format, `[level] message {meta}`. Control characters are removed."""
        if self._log is None:
            return
        told = message if meta is None else f"{message} {encode_json(meta).decode()}"
        with suppress(OSError):
            self._log.write(f"[{level}] {make_safe(truncate(SECRETS.redact(told), MAX_LINE_LENGTH))}\n")

    def log_request(self, record: RequestRecord) -> None:
        """Count and log a request that the pack sent outside any cell."""
        self.requests += 1
        meta = {"ms": round(record.total / 1e6, 3), "status": record.http_status, "error": record.error}
        self.write_log_line(
            "info",
            f"a request outside any cell to {record.slot}",
            {k: v for k, v in meta.items() if v is not None},
        )


def read_events(directory: Path) -> list[ProgressEvent]:
    """Read the events of a run. Lines that were cut off, by a kill or a full disk, are skipped."""
    path = directory / RENDERED / EVENTS
    events = []
    for line in path.read_bytes().splitlines() if path.exists() else ():
        try:
            events.append(msgspec.json.decode(line))
        except DECODE_ERRORS:
            continue
    return events
