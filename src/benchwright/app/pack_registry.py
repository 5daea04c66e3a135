"""Packs that the registry offers, each with the installed version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from benchwright.app.pack_store import installed_packs
from benchwright.packs.install import InstallSettings, RegistryEntry, read_registry
from benchwright.packs.versions import version_key
from benchwright.records import Record

OfferState = Literal["available", "installed", "update", "not supported"]


class RegistryOffer(Record, frozen=True):
    """A pack in the registry. `installed`: the version on this machine, None if it is not installed.

    `state`: the result of comparing the version in the registry with the installed one.
    """

    entry: RegistryEntry
    installed: str | None
    state: OfferState


def search_registry(settings: InstallSettings, words: Sequence[str] = ()) -> list[RegistryOffer]:
    """Return the registry's packs that contain all these words, ignoring case.

    The words are searched in id, name, author and description.

    Raises:
        UserError: If the registry cannot be fetched or is invalid.
    """
    here = {
        pack.id: pack.inspection.manifest.version
        for pack in installed_packs(settings.compatible_version)
        if pack.inspection.manifest is not None
    }
    entries = read_registry(settings.registry, settings.limits).entries
    wanted = [word.casefold() for word in words]
    return [
        RegistryOffer(entry, here.get(entry.id), _state(entry, here.get(entry.id)))
        for entry in entries
        if all(word in _text(entry) for word in wanted)
    ]


def _text(entry: RegistryEntry) -> str:
    parts = [
        entry.id,
        entry.name,
        entry.optional_text("author") or "",
        entry.optional_text("description") or "",
    ]
    return " ".join(parts).casefold()


def _state(entry: RegistryEntry, installed: str | None) -> OfferState:
    """Return the state of a pack on this machine: not supported, available, installed, or to be updated.

    The installed version is compared with the version in the registry. If the two differ and cannot be ordered, the
    pack counts as to be updated, because `pack update` follows the registry.
    """
    if entry.source is None:
        return "not supported"
    if installed is None:
        return "available"
    theirs, ours = version_key(entry.version), version_key(installed)
    newer = entry.version != installed if theirs is None or ours is None else theirs > ours
    return "update" if newer else "installed"
