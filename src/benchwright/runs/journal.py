"""The journal of a run: two append-only files that survive `kill -9` at any instant.

    trials.jsonl   one short line per record (see `records.JournalLine`); the authoritative list
    bodies.jsonl   conversations and artifacts, found by the (offset, length) in a trial's line
    pictures/      the pictures in the bodies, each stored once (see `runs.pictures`)

A body is written before its line. A trial counts once its line is complete. One `write` on an append descriptor
writes a line, or several lines together. When the journal is opened again, an incomplete last line is removed.

After a crash of the machine, bodies may be lost although their lines remain. Before new bodies take the place
of the lost ones, cuts.json records the sizes that both files had then (see `BodyLossPoint`).
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
from benchwright.files import write_atomically
from benchwright.records import (
    DECODE_ERRORS,
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
from benchwright.runs.json_values import to_json_value
from benchwright.runs.pictures import PictureFiles, restore_pictures
from benchwright.runs.process_delays import RunEventDetail
from benchwright.runs.store_format import decode_known_line
from benchwright.secrets import SECRETS

TRIALS_FILE = "trials.jsonl"
BODIES_FILE = "bodies.jsonl"
BODY_LOSS_POINTS_FILE = "cuts.json"

FsyncPolicy = Literal["second", "always"]


class BodyLossPoint(Record, frozen=True):
    """The sizes in bytes of trials.jsonl and bodies.jsonl when a session resumed a run that had lost bodies.

    If a line begins before `trials` and its body ends beyond `bodies`, the body is lost: the bytes that are
    there now belong to another trial.
    """

    trials: Amount
    bodies: Amount


class ExchangeBody(Record, frozen=True):
    """One request of a trial and its response, as JSON.

    `sent`: the number of the outcome's messages that were sent, counted from the first. If the sent messages
    are not the beginning of the outcome's conversation, `sent` is the list of sent messages. `request` holds
    the other fields of the request body.
    """

    request: dict[str, Any]
    sent: int | list[Message]
    response: msgspec.Raw


class TrialBody(Record, frozen=True):
    """The data of a trial that its journal line leaves out.

    `input` and `target` belong to the sample; see `runs.trial_prompt`. `unanswered`: the messages of the last
    request. They are stored if that request got no response and the solver reported no messages, so that they
    show the prompt of a trial whose first request failed.
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
        """The outcome that this body stores."""
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
_decode_body = msgspec.json.Decoder(TrialBody).decode
_decode_cuts = msgspec.json.Decoder(list[BodyLossPoint]).decode


def encode_json(value: Any) -> bytes:
    """Encode a value for the journal as JSON, with secrets replaced.

    All writes of the journal use this function. Values that JSON cannot express (lone surrogates, odd keys, an
    agent's own objects) are approximated; see `to_json_value`.
    """
    try:
        encoded = _encode(value)
    except (TypeError, ValueError, RecursionError):
        encoded = _encode(to_json_value(value))
    return SECRETS.redact_json(encoded)


class Journal:
    """The writer of a run's journal. Nothing else writes to the journal."""

    def __init__(
        self,
        directory: Path,
        *,
        fsync: FsyncPolicy = "second",
    ) -> None:
        self.directory = directory
        self._always = fsync == "always"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._trials = _AppendFile(directory / TRIALS_FILE)
            self._bodies = _AppendFile(directory / BODIES_FILE)
        except OSError as error:
            raise JournalError(f"Cannot write the run to {directory}: {error.strerror}.") from None
        self._pictures = PictureFiles(directory)
        self._dirty = False

    def write_trial(self, record: TrialRecord, body: bytes) -> None:
        """Write a body (from `encode_json`), then the trial's line that points to it.

        Raises:
            JournalError: If the disk is full or gone. Everything written before is complete.
        """
        self.write_trials_and_scores([(record, body)])

    def write_trials_and_scores(
        self, trials: Sequence[tuple[TrialRecord, bytes]], scores: Sequence[ScoreRecord] = ()
    ) -> None:
        """Write the bodies of trials in one write. Then write the lines of the trials and scores in another.

        An empty body is not stored.

        Raises:
            JournalError: If the disk is full or gone. Everything written before is complete.
        """
        lines: list[JournalLine] = []
        trials = [
            (record, self._pictures.extract_pictures(body) if body else body) for record, body in trials
        ]
        if bodies := b"".join([body + b"\n" for _, body in trials if body]):
            offset = self._append(self._bodies, bodies)
        for record, body in trials:
            if body:
                record = msgspec.structs.replace(record, body=(offset, len(body)))
                offset += len(body) + 1
            lines.append(record)
        if lines or scores:
            self.write_lines(*lines, *scores)

    def write_lines(self, *lines: JournalLine) -> None:
        """Write records to trials.jsonl, one line each, in one write.

        Raises:
            JournalError: If the disk is full or gone. Everything written before is complete.
        """
        self._append(self._trials, b"".join([encode_json(line) + b"\n" for line in lines]))

    def write_body_loss_point(self) -> None:
        """Record durably where the journal ends. If bodies were lost, call this before new bodies are written.

        The lines are synced first. Otherwise another crash could lose these lines, and later lines in their
        place would seem older than the cut.

        Raises:
            JournalError: If the journal or cuts.json cannot be written, or cuts.json cannot be read.
        """
        self._dirty = True
        self.sync()
        cuts = [*read_body_loss_points(self.directory), BodyLossPoint(self._trials.size, self._bodies.size)]
        write_atomically(
            self.directory / BODY_LOSS_POINTS_FILE, encode_json(cuts), durable=True, error=JournalError
        )

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
        """Make everything written so far durable against a power loss.

        Do not call this on the event loop, because it blocks.

        Raises:
            JournalError: If the disk reports an error.
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
        """Sync and close the files."""
        try:
            self.sync()
        finally:
            self._bodies.close()
            self._trials.close()


class _AppendFile:
    """A file that only grows. Each append is written completely or not at all."""

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
        if hasattr(os, "fdatasync"):
            os.fdatasync(self._descriptor)
        else:  # macOS
            os.fsync(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)


def _cut_torn_line(descriptor: int) -> int:
    """Truncate the file after its last newline and return its size."""
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
    """Parse one journal line into a record. Raises one of `DECODE_ERRORS` if the line is not a valid record."""
    line = decode_known_line(encoded)
    if isinstance(line, RunEvent):
        check_event(line)
    return line


def check_event(event: RunEvent) -> None:
    """Raise one of `DECODE_ERRORS` if the detail of an event does not fit `RunEventDetail`."""
    msgspec.convert(event.detail, RunEventDetail)


def read_body_loss_points(directory: Path) -> list[BodyLossPoint]:
    """Read the cuts of a run, the oldest first. Empty if no bodies were lost.

    Raises:
        JournalError: If the file cannot be read.
    """
    path = directory / BODY_LOSS_POINTS_FILE
    try:
        return _decode_cuts(path.read_bytes())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise JournalError(f"{path} cannot be read: {error.strerror}.") from None
    except DECODE_ERRORS as error:
        raise JournalError(f"{path} cannot be read: {error}.") from None


def read_body(directory: Path, record: TrialRecord) -> TrialBody:
    """Read the body of a trial.

    Raises:
        JournalError: If the body is lost, or another trial's body is in its place.
    """
    return decode_body(read_encoded_body(directory, record), record)


def read_bodies(directory: Path, records: Iterable[TrialRecord]) -> Iterator[tuple[TrialRecord, TrialBody]]:
    """Yield each trial with its body. The file of bodies is opened only once.

    Raises:
        JournalError: If a body is lost, or another trial's body is in its place.
    """
    with open_bodies(directory) as file:
        for record in records:
            yield record, read_body_from(file, record)


def read_body_from(file: IO[bytes], record: TrialRecord) -> TrialBody:
    """Read the body of a trial from a file that `open_bodies` opened.

    Raises:
        JournalError: If the body is lost, or another trial's body is in its place.
    """
    file.seek(record.body[0])
    return decode_body(restore_pictures(Path(file.name).parent, file.read(record.body[1])), record)


def decode_body(encoded: bytes, record: TrialRecord) -> TrialBody:
    """Decode the body of a trial from JSON.

    Raises:
        JournalError: If the body was not stored, is not valid, or belongs to another trial.
    """
    if not encoded and not record.body[1]:
        raise JournalError(f"The conversation of sample {record.sample} was not kept.")
    try:
        body = _decode_body(encoded)
    except DECODE_ERRORS:
        raise JournalError(f"The conversation of sample {record.sample} was lost.") from None
    if body.key != record.key:
        raise JournalError(f"The conversation of sample {record.sample} was lost: another lies in its place.")
    return body


def read_encoded_body(directory: Path, record: TrialRecord) -> bytes:
    """Read the JSON of a trial's body. Its pictures are put back in place of their references.

    The result is short if the file ends early.

    Raises:
        JournalError: If the file cannot be read.
    """
    offset, length = record.body
    with open_bodies(directory) as file:
        file.seek(offset)
        return restore_pictures(directory, file.read(length))


@contextmanager
def open_bodies(directory: Path) -> Iterator[IO[bytes]]:
    """Open the file that holds the bodies of a run; close it on exit.

    Raises:
        JournalError: If the file cannot be read.
    """
    path = directory / BODIES_FILE
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
