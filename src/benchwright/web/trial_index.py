"""The trials of one run as columns of numbers, read from its journal as it grows.

A few dozen bytes a trial, so that 100,000 of them are filtered, sorted and paged at once; what a row shows
besides is read from its place in the journal when it is shown.
"""

from __future__ import annotations

import math
import time
from array import array
from pathlib import Path
from threading import RLock
from typing import NamedTuple

import msgspec

from benchwright.records import Status
from benchwright.runs.journal import TRIALS
from benchwright.web.trial_lines import LeanScore, LeanTrial, decode_lean

STATUSES = tuple(Status)
_CODE = {status: code for code, status in enumerate(STATUSES)}
_WORSE = {Status.ANSWERED: 0, Status.SCORED: 1, Status.UNPARSED: 2, Status.GRADER_ERROR: 3}
"""How statuses of scores fold into that of an answered trial; see `records.trial_status`."""

SLICE = 2**21
"""Bytes that are read at once."""


class Row(NamedTuple):
    """One trial. `latency` is its whole duration and `ttft` that of its first request, seconds."""

    number: int
    sample: str
    target: str
    repeat: int
    status: Status
    scores: dict[str, float]
    group: str | None
    labels: dict[str, str]
    latency: float
    ttft: float | None
    attempts: int


class _Chains:
    """Lists of offsets, one per trial, in two arrays: each entry knows the one before."""

    def __init__(self) -> None:
        self._offsets = array("q")
        self._former = array("q")

    def add(self, offset: int, former: int) -> int:
        self._offsets.append(offset)
        self._former.append(former)
        return len(self._offsets) - 1

    def walk(self, last: int) -> list[int]:
        """The offsets of a chain, the oldest first."""
        found = []
        while last >= 0:
            found.append(self._offsets[last])
            last = self._former[last]
        return found[::-1]


class TrialIndex:
    """Reads a journal incrementally; `position` is how far. Everything is to be called with `lock` held."""

    def __init__(self, directory: Path) -> None:
        self.lock = RLock()
        self.position = 0
        self.unreadable = 0
        self.scorers: list[str] = []
        self.targets: list[str] = []
        self.samples: list[str] = []
        self.label_sets: list[dict[str, str]] = [{}]
        self.groups: list[str] = []
        self.status = bytearray()
        self.target = bytearray()
        self.repeat = array("i")
        self.group = array("i")
        self.labels = array("i")
        self.latency = array("f")
        self.ttft = array("f")
        self.values: dict[str, array[float]] = {}
        self._path = directory / TRIALS
        self._rows: dict[str, int] = {}
        self._last_attempt = array("q")
        self._last_score = array("q")
        self._attempts = _Chains()
        self._scores = _Chains()
        self._codes: dict[tuple[str, object], int] = {("labels", ()): 0}

    def __len__(self) -> int:
        return len(self.samples)

    def size(self) -> int:
        """Bytes of the journal as it is now."""
        try:
            return self._path.stat().st_size
        except OSError:
            return 0

    def advance(self, seconds: float = math.inf) -> bool:
        """Reads on for about so long; whether it has come to the end."""
        end = time.monotonic() + seconds
        try:
            with self._path.open("rb") as file:
                file.seek(self.position)
                while True:
                    begun = file.tell()
                    lines = file.readlines(SLICE)
                    for line in lines:
                        if not line.endswith(b"\n"):
                            return True
                        self._take(line)
                        self.position += len(line)
                    if not lines or file.tell() == begun:
                        return True
                    if time.monotonic() >= end:
                        return self.position >= self.size()
        except OSError:
            return True

    def _take(self, encoded: bytes) -> None:
        try:
            line = decode_lean(encoded)
        except (msgspec.DecodeError, UnicodeDecodeError):
            self.unreadable += 1
            return
        if isinstance(line, LeanTrial):
            self._take_trial(line)
        elif isinstance(line, LeanScore):
            self._take_score(line)

    def _take_trial(self, line: LeanTrial) -> None:
        row = self._rows.get(line.key)
        if row is None:
            row = self._rows[line.key] = self._new_row(line)
        elif line.status is not Status.CANCELLED:  # what was cut off leaves the earlier attempt standing
            for values in self.values.values():
                values[row] = math.nan
        self._last_attempt[row] = self._attempts.add(self.position, self._last_attempt[row])
        if line.status is Status.CANCELLED and self._attempts.walk(self._last_attempt[row])[1:]:
            return
        self.status[row] = _CODE[line.status]
        self.latency[row] = line.duration / 1e9
        first = next((one for one in line.requests if one.role == "model"), None)
        self.ttft[row] = math.nan if first is None or first.ttft is None else first.ttft / 1e9
        for name, value in line.scores.items():
            self._column(name)[row] = value

    def _new_row(self, line: LeanTrial) -> int:
        self.samples.append(line.sample)
        self.status.append(0)
        self.target.append(self._code("target", line.target, self.targets))
        self.repeat.append(line.repeat)
        self.group.append(-1 if line.group is None else self._code("group", line.group, self.groups))
        named = tuple(line.labels.items())
        code = self._codes.get(("labels", named))
        if code is None:
            code = self._codes["labels", named] = len(self.label_sets)
            self.label_sets.append(line.labels)
        self.labels.append(code)
        self.latency.append(0.0)
        self.ttft.append(math.nan)
        self._last_attempt.append(-1)
        self._last_score.append(-1)
        for values in self.values.values():
            values.append(math.nan)
        return len(self.samples) - 1

    def _code(self, kind: str, name: str, names: list[str]) -> int:
        code = self._codes.setdefault((kind, name), len(names))
        if code == len(names):
            names.append(name)
        return code

    def _column(self, scorer: str) -> array[float]:
        values = self.values.get(scorer)
        if values is None:
            self.scorers.append(scorer)
            values = self.values[scorer] = array("d", [math.nan]) * len(self.samples)
        return values

    def _take_score(self, line: LeanScore) -> None:
        row = self._rows.get(line.trial)
        if row is None:
            return
        self._last_score[row] = self._scores.add(self.position, self._last_score[row])
        values = self._column(line.scorer)
        if line.value is not None:
            values[row] = line.value
        former = STATUSES[self.status[row]]
        if former in _WORSE and line.status in _WORSE and _WORSE[line.status] > _WORSE[former]:
            self.status[row] = _CODE[line.status]

    def find(self, sample: str, target: str | None, repeat: int) -> int | None:
        """The number of a trial; without a target, of the first that has it."""
        wanted = None if target is None else self._codes.get(("target", target), -1)
        place = -1
        while True:
            try:
                place = self.samples.index(sample, place + 1)
            except ValueError:
                return None
            if self.repeat[place] == repeat and wanted in (None, self.target[place]):
                return place

    def siblings(self, sample: str) -> list[int]:
        """All trials of a sample."""
        return [number for number, name in enumerate(self.samples) if name == sample]

    def attempts(self, number: int) -> list[int]:
        """Where the lines of all attempts at a trial are, the oldest first."""
        return self._attempts.walk(self._last_attempt[number])

    def scores(self, number: int) -> list[int]:
        """Where the lines of all scores of a trial are, the oldest first."""
        return self._scores.walk(self._last_score[number])

    def row(self, number: int) -> Row:
        """One trial."""
        ttft, group = self.ttft[number], self.group[number]
        return Row(
            number,
            self.samples[number],
            self.targets[self.target[number]],
            self.repeat[number],
            STATUSES[self.status[number]],
            {name: values[number] for name, values in self.values.items() if not math.isnan(values[number])},
            None if group < 0 else self.groups[group],
            self.label_sets[self.labels[number]],
            self.latency[number],
            None if math.isnan(ttft) else ttft,
            len(self.attempts(number)),
        )
