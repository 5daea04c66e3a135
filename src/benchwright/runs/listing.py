"""What a person does with runs on this machine: tag them, note something, delete them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchwright.errors import UserError
from benchwright.files import Stamp, stamps, write_whole
from benchwright.home import runs_directory
from benchwright.records import UNREADABLE
from benchwright.runs.journal import encode_json
from benchwright.runs.manifest import MANIFEST, Manifest
from benchwright.runs.store import find_run

TAGS = "tags.json"
"""A run's tags, beside its journal: run.json never changes."""

NOTE = "note.json"
"""What was noted on a run, beside its journal."""

LONGEST_NOTE = 4_000
"""Characters of a note."""


def models_of(manifest: Manifest) -> list[str]:
    """The models of a run as they were typed."""
    return [manifest.typed_models.get(target.slot, target.model) for target in manifest.targets]


def read_tags(directory: Path) -> list[str]:
    """The tags of a run; none where they cannot be read."""
    try:
        return msgspec.json.decode((directory / TAGS).read_bytes(), type=list[str])
    except (OSError, *UNREADABLE):
        return []


def tag_run(reference: str, tags: Sequence[str], *, remove: bool = False) -> list[str]:
    """Adds tags to a run, or takes them away; returns those that it then has.

    Raises:
        UserError: there is no such run, a tag is not a single word, or it cannot be written.
    """
    for tag in tags:
        if not tag.isprintable() or not tag or " " in tag or len(tag) > 60:
            raise UserError(f"{tag!r} is not a valid tag: give a word of up to 60 characters.")
    directory = find_run(reference)
    before = read_tags(directory)
    after = [tag for tag in before if tag not in tags] if remove else list(dict.fromkeys([*before, *tags]))
    write_whole(directory / TAGS, msgspec.json.encode(after))
    return after


def read_note(directory: Path) -> str:
    """What was noted on a run; empty where nothing was, or it cannot be read."""
    try:
        return msgspec.json.decode((directory / NOTE).read_bytes(), type=str)
    except (OSError, *UNREADABLE):
        return ""


def remarks_stamp(directory: Path) -> Stamp:
    """What tags and note of a run are at this moment, without reading them."""
    return stamps(directory / TAGS, directory / NOTE)


def note_run(reference: str, text: str) -> str:
    """Notes something on a run, in place of what was noted before; an empty text takes that away. Returns the note.

    Raises:
        UserError: there is no such run, the text is too long, or it cannot be written.
    """
    note = "\n".join(line.rstrip() for line in text.splitlines()).strip()
    if len(note) > LONGEST_NOTE:
        raise UserError(f"The note has {len(note):,} characters; give at most {LONGEST_NOTE:,}.")
    directory = find_run(reference)
    try:
        if note:
            write_whole(directory / NOTE, encode_json(note))
        else:
            (directory / NOTE).unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"Cannot write {directory / NOTE}: {error.strerror or error}.") from None
    return read_note(directory)


def runs_to_delete(references: Sequence[str]) -> list[Path]:
    """The directories of runs that may be deleted: only those in the store.

    Raises:
        UserError: there is no such run, or it lies elsewhere.
    """
    found = []
    for reference in references:
        directory = find_run(reference).resolve()
        if directory.parent != runs_directory().resolve():
            raise UserError(f"{directory} is not in {runs_directory()}; delete that directory yourself.")
        found.append(directory)
    return list(dict.fromkeys(found))


def delete_run(directory: Path) -> None:
    """Deletes a run with all that was said in it.

    Its manifest goes first: what is left of a deletion that was cut short is not a run any more.

    Raises:
        UserError: a process is at work on it, or a file cannot be deleted.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(directory / "lock")
    try:
        with lock.acquire(timeout=0):
            (directory / MANIFEST).unlink()
            shutil.rmtree(directory)
    except Timeout:
        raise UserError(f"{directory.name} is still running; wait for it to end, or stop it.") from None
    except OSError as error:
        raise UserError(f"Cannot delete {directory}: {error.strerror or error}.") from None
