"""What the registry of packs offers, held against what is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from benchwright.app.pack_store import installed_packs
from benchwright.packs.install import InstallSettings, RegistryEntry, read_registry
from benchwright.packs.versions import rank
from benchwright.records import Record

State = Literal["available", "installed", "update", "not supported"]


class Offer(Record, frozen=True):
    """A pack of the registry; `installed` is the version that is on this machine, None where there is none."""

    entry: RegistryEntry
    installed: str | None
    state: State


def offers(settings: InstallSettings, words: Sequence[str] = ()) -> list[Offer]:
    """The packs of the registry that have all of these words, in any case, in their id, name, author or description.

    Raises:
        UserError: the registry cannot be had, or is none.
    """
    here = {
        pack.id: pack.inspection.manifest.version
        for pack in installed_packs(settings.compatible_version)
        if pack.inspection.manifest is not None
    }
    entries = read_registry(settings.registry, settings.limits).entries
    wanted = [word.casefold() for word in words]
    return [
        Offer(entry, here.get(entry.id), _state(entry, here.get(entry.id)))
        for entry in entries
        if all(word in _text(entry) for word in wanted)
    ]


def _text(entry: RegistryEntry) -> str:
    parts = [entry.id, entry.name, entry.text("author") or "", entry.text("description") or ""]
    return " ".join(parts).casefold()


def _state(entry: RegistryEntry, installed: str | None) -> State:
    """Versions that cannot be compared are an update where they differ: the registry is what `pack update` takes."""
    if entry.source is None:
        return "not supported"
    if installed is None:
        return "available"
    theirs, ours = rank(entry.version), rank(installed)
    newer = entry.version != installed if theirs is None or ours is None else theirs > ours
    return "update" if newer else "installed"
