"""The tags and notes that users give to runs, and the deletion of runs."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchwright.errors import UserError
from benchwright.files import FileStamp, file_stamps, write_atomically
from benchwright.home import runs_directory
from benchwright.records import DECODE_ERRORS
from benchwright.runs.journal import encode_json
from benchwright.runs.manifest import MANIFEST_FILE, Manifest, check_run_format
from benchwright.runs.store import find_run

TAGS_FILE = "tags.json"
"""Name of the file with a run's tags. They are stored beside the run's journal, because run.json never changes."""

NOTE_FILE = "note.json"
"""Name of the file with the user's note on a run. It is stored beside the run's journal."""

MAX_NOTE_LENGTH = 4_000
"""Maximum number of characters of a note."""


def models_of(manifest: Manifest) -> list[str]:
    """Return the models of a run as the user typed them."""
    return [manifest.typed_models.get(target.slot, target.model) for target in manifest.targets]


def read_tags(directory: Path) -> list[str]:
    """Return the tags of a run. Empty if they cannot be read."""
    try:
        return msgspec.json.decode((directory / TAGS_FILE).read_bytes(), type=list[str])
    except (OSError, *DECODE_ERRORS):
        return []


def tag_run(reference: str, tags: Sequence[str], *, remove: bool = False) -> list[str]:
    """Add tags to a run, or remove them if `remove` is True. Return the run's tags afterwards.

    Raises:
        UserError: If there is no such run, a newer version wrote it, a tag is not a single word, or the tags cannot
            be written.
    """
    for tag in tags:
        if not tag.isprintable() or not tag or " " in tag or len(tag) > 60:
            raise UserError(f"{tag!r} is not a valid tag: give a word of up to 60 characters.")
    directory = find_run(reference)
    check_run_format(directory)
    before = read_tags(directory)
    after = [tag for tag in before if tag not in tags] if remove else list(dict.fromkeys([*before, *tags]))
    write_atomically(directory / TAGS_FILE, msgspec.json.encode(after))
    return after


def read_note(directory: Path) -> str:
    """Return the user's note on a run. Empty if there is none, or if it cannot be read."""
    try:
        return msgspec.json.decode((directory / NOTE_FILE).read_bytes(), type=str)
    except (OSError, *DECODE_ERRORS):
        return ""


def tags_and_note_stamp(directory: Path) -> FileStamp:
    """Return the size and modification time of a run's files of tags and note, by which changes are detected."""
    return file_stamps(directory / TAGS_FILE, directory / NOTE_FILE)


def set_note(reference: str, text: str) -> str:
    """Set the user's note on a run and return the note. An empty text removes the note.

    Raises:
        UserError: If there is no such run, a newer version wrote it, the text is too long, or the note cannot be
            written.
    """
    note = "\n".join(line.rstrip() for line in text.splitlines()).strip()
    if len(note) > MAX_NOTE_LENGTH:
        raise UserError(f"The note has {len(note):,} characters; give at most {MAX_NOTE_LENGTH:,}.")
    directory = find_run(reference)
    check_run_format(directory)
    try:
        if note:
            write_atomically(directory / NOTE_FILE, encode_json(note))
        else:
            (directory / NOTE_FILE).unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"Cannot write {directory / NOTE_FILE}: {error.strerror or error}.") from None
    return read_note(directory)


def runs_to_delete(references: Sequence[str]) -> list[Path]:
    """Return the directories of the given runs, after checking that they are in the store.

    Raises:
        UserError: If there is no such run, or it is outside the store.
    """
    found = []
    for reference in references:
        directory = find_run(reference).resolve()
        if directory.parent != runs_directory().resolve():
            raise UserError(f"{directory} is not in {runs_directory()}; delete that directory yourself.")
        found.append(directory)
    return list(dict.fromkeys(found))


def delete_run(directory: Path) -> None:
    """Delete a run with all its files.

    The manifest is deleted first, so that the remains of an interrupted deletion no longer count as a run.

    Raises:
        UserError: If a process is working on the run, or a file cannot be deleted.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(directory / "lock")
    try:
        with lock.acquire(timeout=0):
            (directory / MANIFEST_FILE).unlink()
            shutil.rmtree(directory)
    except Timeout:
        raise UserError(f"{directory.name} is still running; wait for it to end, or stop it.") from None
    except OSError as error:
        raise UserError(f"Cannot delete {directory}: {error.strerror or error}.") from None
