"""The journal of a run: two append-only files that survive `kill -9` at any instant.

    trials.jsonl   the truth: one light line per record (see `records.JournalLine`)
    bodies.jsonl   what a trial said and heard, found by the (offset, length) in its line
    pictures/      the pictures in it, each once (see `runs.pictures`)

A crash of the machine may take bodies whose lines are still there. Before new ones take their place, cuts.json says
from where on they are gone (see `Cut`).

A body is written before its line; a trial counts once its line is written whole, by one `write` on an
append descriptor, which may hold several lines. A torn last line is cut off when the journal is opened again.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

import msgspec

from benchwright.errors import JournalError
from benchwright.files import write_whole
from benchwright.records import (
    UNREADABLE,
    Amount,
    JournalLine,
    Message,
    Outcome,
    Record,
    RunEvent,
    ScoreRecord,
    Status,
    TrialRecord,
)
from benchwright.runs.lag import EventDetail
from benchwright.runs.pictures import PictureFiles, put_back
from benchwright.runs.plain_values import plain
from benchwright.secrets import SECRETS

TRIALS = "trials.jsonl"
BODIES = "bodies.jsonl"
CUTS = "cuts.json"

Fsync = Literal["second", "always"]


class Cut(Record, frozen=True):
    """How long the files were, in bytes, when a session went on after bodies were lost.

    A line that begins within these `trials`, and whose body ends beyond these `bodies`, has lost it: what lies there
    by now is another's.
    """

    trials: Amount
    bodies: Amount


class ExchangeBody(Record, frozen=True):
    """One request of a trial and its answer, as JSON.

    `sent` says which messages were sent: the first `sent` of the outcome's messages, or the list itself where
    they are not a beginning of those. `request` holds the other fields of the request's body.
    """

    request: dict[str, Any]
    sent: int | list[Message]
    response: msgspec.Raw


class Body(Record, frozen=True):
    """What a trial's line leaves out; `input` and `target` are the sample's, see `runs.asked`.

    `unanswered` are the messages of the request that was sent last where it got no answer and the solver told no
    messages: what a trial was asked whose first request failed.
    """

    key: str
    attempt: int = 0
    status: Status = Status.ANSWERED
    reason: str | None = None
    input: int | str | None = None
    target: str | None = None
    messages: list[Message] = []
    answer: str = ""
    scores: dict[str, float] = {}
    exchanges: list[ExchangeBody] = []
    artifacts: dict[str, Any] = {}
    native: Any = None
    unanswered: list[Message] = []

    @property
    def outcome(self) -> Outcome:
        """The outcome that this was the body of."""
        return Outcome(
            status=self.status,
            messages=self.messages,
            answer=self.answer,
            reason=self.reason,
            scores=self.scores,
            artifacts=self.artifacts,
            native=self.native,
        )


_encode = msgspec.json.Encoder().encode
_decode_line = msgspec.json.Decoder(JournalLine).decode
_decode_body = msgspec.json.Decoder(Body).decode
_decode_cuts = msgspec.json.Decoder(list[Cut]).decode


def encode_json(value: Any) -> bytes:
    """The one encoder of everything a journal holds, secrets replaced.

    What JSON cannot hold (lone surrogates, odd keys, an agent's own objects) is written as well as possible.
    """
    try:
        encoded = _encode(value)
    except (TypeError, ValueError, RecursionError):
        encoded = _encode(plain(value))
    return SECRETS.redact_json(encoded)


class Journal:
    """The one writer of a run's journal."""

    def __init__(
        self,
        directory: Path,
        *,
        fsync: Fsync = "second",
    ) -> None:
        self.directory = directory
        self._always = fsync == "always"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._trials = _AppendFile(directory / TRIALS)
            self._bodies = _AppendFile(directory / BODIES)
        except OSError as error:
            raise JournalError(f"Cannot write the run to {directory}: {error.strerror}.") from None
        self._pictures = PictureFiles(directory)
        self._dirty = False

    def write_trial(self, record: TrialRecord, body: bytes) -> None:
        """Writes a body (from `encode_json`), then the trial's line that points to it.

        Raises:
            JournalError: the disk is full or gone; what was written before is whole.
        """
        self.write_group([(record, body)])

    def write_group(
        self, trials: Sequence[tuple[TrialRecord, bytes]], scores: Sequence[ScoreRecord] = ()
    ) -> None:
        """Writes the bodies of trials by one write, then by another their lines and those of scores.

        A body that is empty is not kept.

        Raises:
            JournalError: the disk is full or gone; what was written before is whole.
        """
        lines: list[JournalLine] = []
        trials = [(record, self._pictures.taken_out(body) if body else body) for record, body in trials]
        if bodies := b"".join([body + b"\n" for _, body in trials if body]):
            offset = self._append(self._bodies, bodies)
        for record, body in trials:
            if body:
                record = msgspec.structs.replace(record, body=(offset, len(body)))
                offset += len(body) + 1
            lines.append(record)
        if lines or scores:
            self.write(*lines, *scores)

    def write(self, *lines: JournalLine) -> None:
        """Writes records, one line each, by one write.

        Raises:
            JournalError: the disk is full or gone; what was written before is whole.
        """
        self._append(self._trials, b"".join([encode_json(line) + b"\n" for line in lines]))

    def note_cut(self) -> None:
        """Writes down for good where the journal ends; call it where bodies are lost, before others are written.

        The lines come first: were they lost by another crash, later ones in their place would seem to be older.

        Raises:
            JournalError: it cannot be written, or what it is added to cannot be read.
        """
        self._dirty = True
        self.sync()
        cuts = [*read_cuts(self.directory), Cut(self._trials.size, self._bodies.size)]
        write_whole(self.directory / CUTS, encode_json(cuts), durable=True, error=JournalError)

    def _append(self, file: _AppendFile, data: bytes) -> int:
        try:
            offset = file.append(data)
            if self._always:
                self._pictures.sync()
                file.sync()
        except OSError as error:
            raise JournalError(_explain(error, self.directory)) from None
        self._dirty = True
        return offset

    def sync(self) -> None:
        """Makes what was written durable against a power loss; call it off the event loop.

        Raises:
            JournalError: the disk reports an error.
        """
        if not self._dirty:
            return
        self._dirty = False
        try:
            self._pictures.sync()
            self._bodies.sync()
            self._trials.sync()
        except OSError as error:
            raise JournalError(_explain(error, self.directory)) from None

    def close(self) -> None:
        """Syncs and closes the files."""
        try:
            self.sync()
        finally:
            self._bodies.close()
            self._trials.close()


class _AppendFile:
    """A file that only grows, by whole appends."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self.size = _cut_torn_line(self._descriptor)

    def append(self, data: bytes) -> int:
        offset = self.size
        written = os.write(self._descriptor, data)
        if written != len(data):
            os.ftruncate(self._descriptor, offset)
            raise OSError(errno.ENOSPC, "No space left on device")
        self.size += written
        return offset

    def sync(self) -> None:
        os.fdatasync(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)


def _cut_torn_line(descriptor: int) -> int:
    """Truncates the file behind its last line end; returns its size."""
    size = os.fstat(descriptor).st_size
    block = 65_536
    end = size
    while end > 0:
        start = max(0, end - block)
        newline = os.pread(descriptor, end - start, start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end != size:
        os.ftruncate(descriptor, end)
    return end


def decode_line(encoded: bytes) -> JournalLine:
    """A record from its line; one of `UNREADABLE` is raised where it is none."""
    line: JournalLine = _decode_line(encoded)
    if isinstance(line, RunEvent):
        check_event(line)
    return line


def check_event(event: RunEvent) -> None:
    """Raises one of `UNREADABLE` where an event says what is none of `EventDetail`."""
    msgspec.convert(event.detail, EventDetail)


def read_cuts(directory: Path) -> list[Cut]:
    """Where bodies were lost, the oldest first.

    Raises:
        JournalError: the file cannot be read.
    """
    path = directory / CUTS
    try:
        return _decode_cuts(path.read_bytes())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise JournalError(f"{path} cannot be read: {error.strerror}.") from None
    except UNREADABLE as error:
        raise JournalError(f"{path} cannot be read: {error}.") from None


def read_body(directory: Path, record: TrialRecord) -> Body:
    """The body of a trial's line.

    Raises:
        JournalError: it is gone, or what lies in its place is not its own.
    """
    return decode_body(read_encoded_body(directory, record), record)


def read_bodies(directory: Path, records: Iterable[TrialRecord]) -> Iterator[tuple[TrialRecord, Body]]:
    """Lines of trials with their bodies, whose file is opened once.

    Raises:
        JournalError: a body is gone, or what lies in its place is not its own.
    """
    with body_file(directory) as file:
        for record in records:
            yield record, body_in(file, record)


def body_in(file: IO[bytes], record: TrialRecord) -> Body:
    """The body of a trial's line, from the file that `body_file` opened.

    Raises:
        JournalError: it is gone, or what lies in its place is not its own.
    """
    file.seek(record.body[0])
    return decode_body(put_back(Path(file.name).parent, file.read(record.body[1])), record)


def decode_body(encoded: bytes, record: TrialRecord) -> Body:
    """A trial's body from its JSON.

    Raises:
        JournalError: it was not kept, or is none, or another trial's.
    """
    if not encoded and not record.body[1]:
        raise JournalError(f"The conversation of sample {record.sample} was not kept.")
    try:
        body = _decode_body(encoded)
    except UNREADABLE:
        raise JournalError(f"The conversation of sample {record.sample} was lost.") from None
    if body.key != record.key:
        raise JournalError(f"The conversation of sample {record.sample} was lost: another lies in its place.")
    return body


def read_encoded_body(directory: Path, record: TrialRecord) -> bytes:
    """The JSON of the body of a trial's line with its pictures, as far as it is there.

    Raises:
        JournalError: the file cannot be read.
    """
    offset, length = record.body
    with body_file(directory) as file:
        file.seek(offset)
        return put_back(directory, file.read(length))


@contextmanager
def body_file(directory: Path) -> Iterator[IO[bytes]]:
    """The file with the bodies of a run, for as long as it is needed.

    Raises:
        JournalError: it cannot be read.
    """
    path = directory / BODIES
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise JournalError(f"{path} cannot be read: {error.strerror}.") from None


def _explain(error: OSError, directory: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"The disk with {directory} is full. All trials finished so far are kept: "
            "free some space and run the same command again."
        )
    return f"The journal in {directory} cannot be written: {error.strerror or error}."
