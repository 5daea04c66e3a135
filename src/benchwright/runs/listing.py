"""The runs on this machine, whatever made them: filtered, counted, tagged, deleted."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchwright.errors import JournalError, UserError
from benchwright.files import write_whole
from benchwright.home import runs_directory
from benchwright.records import UNREADABLE, Record
from benchwright.runs.manifest import MANIFEST, Manifest, planned_trials, read_manifest
from benchwright.runs.progress import Progress
from benchwright.runs.store import find_run, read_last_event
from benchwright.text import Say

TAGS = "tags.json"
"""A run's tags, beside its journal: run.json never changes."""


class ListedRun(Record, frozen=True):
    """One run in a listing. `state` is finished, stopped or unfinished.

    `done` trials count (see `runs.counting`), of `planned`: None where time ends the run. Both are None where the
    journal cannot be read. `failed` of them are failures, as the end of the last session says; None where it does not.
    """

    manifest: Manifest
    state: str
    tags: list[str]
    done: int | None
    planned: int | None
    failed: int | None = None


def list_runs(
    *,
    kind: str | None = None,
    model: str = "",
    state: str | None = None,
    tags: Sequence[str] = (),
    say: Say | None = None,
) -> list[ListedRun]:
    """The runs that fit, the newest first: `model` is part of a name in any case, `tags` are all to be there.

    What cannot be read is left out, and said.
    """
    directory = runs_directory()
    found = []
    for path in directory.iterdir() if directory.is_dir() else ():
        if not (path / MANIFEST).exists():
            continue
        try:
            manifest = read_manifest(path)
        except UserError as error:
            if say is not None:
                say(f"Warning: left out: {error}")
            continue
        event = read_last_event(path)
        its_state = (
            event.name if event is not None and event.name in ("finished", "stopped") else "unfinished"
        )
        its_tags = read_tags(path)
        if kind not in (None, manifest.kind) or state not in (None, its_state):
            continue
        if model and not any(model.lower() in name.lower() for name in models_of(manifest)):
            continue
        if set(tags) <= set(its_tags):
            failed = None if event is None else event.detail.get("failed")
            found.append(
                ListedRun(manifest, its_state, its_tags, *_trials(path, manifest, its_state), failed)
            )
    return sorted(found, key=lambda run: run.manifest.created_at, reverse=True)


def _trials(directory: Path, manifest: Manifest, state: str) -> tuple[int | None, int | None]:
    """How many trials are done, and how many are planned; a journal is only read where it may not be all of them."""
    planned = planned_trials(manifest)
    if state == "finished" and "load" not in manifest.about and not manifest.settings.get("rescore"):
        return planned, planned
    progress = Progress(directory)
    try:
        progress.advance()
    except JournalError:
        return None, None
    return progress.done, progress.planned if progress.sessions.started_at else planned


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
        UserError: there is no such run, a tag is no single word, or it cannot be written.
    """
    for tag in tags:
        if not tag.isprintable() or not tag or " " in tag or len(tag) > 60:
            raise UserError(f"{tag!r} is not a valid tag: give a word of up to 60 characters.")
    directory = find_run(reference)
    before = read_tags(directory)
    after = [tag for tag in before if tag not in tags] if remove else list(dict.fromkeys([*before, *tags]))
    write_whole(directory / TAGS, msgspec.json.encode(after))
    return after


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

    Its manifest goes first: what is left of a deletion that was cut short is no run any more.

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
