"""Fetches a pack's files from its source into the staging directory."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from benchwright.errors import UserError
from benchwright.packs.install.digest import file_digest
from benchwright.packs.install.registry import read_registry
from benchwright.packs.install.settings import InstallPhase, InstallSettings
from benchwright.packs.install.sources import (
    Archive,
    ArchiveFile,
    Directory,
    GitHub,
    PackSource,
    RegistryPack,
)
from benchwright.packs.install.unpack import copy_directory, extract_archive
from benchwright.records import Record


class PackLocation(Record, frozen=True):
    """The address or path of a pack's files, and what is known about them before they are fetched.

    `sha256`: the expected digest of the archive, None if unknown. `version`: the version in the registry,
    None if unknown.
    """

    source: Archive | ArchiveFile | Directory
    pack_id: str | None = None
    version: str | None = None
    sha256: str | None = None

    @property
    def origin(self) -> str:
        """The address or path of the files, as text."""
        return self.source.url if isinstance(self.source, Archive) else self.source.path


class FetchedFiles(Record, frozen=True):
    """The root of a pack's fetched files, and the SHA-256 of the archive.

    The SHA-256 is None if the files did not come from an archive.
    """

    root: Path
    archive_sha256: str | None = None


def locate_source(source: PackSource, settings: InstallSettings) -> PackLocation:
    """Return where the files of a source are. If the source is a name, it is looked up in the registry.

    Raises:
        UserError: If the registry cannot be read, or has no such pack for this host.
    """
    match source:
        case RegistryPack(id=pack_id):
            entry = read_registry(settings.registry, settings.limits).find(pack_id)
            assert entry.source is not None
            at = _archive(entry.source, settings)
            return PackLocation(at, pack_id, entry.version, entry.sha256)
        case GitHub() | Archive():
            return PackLocation(_archive(source, settings))
        case _:
            return PackLocation(source)


def fetch_files(
    found: PackLocation, room: Path, settings: InstallSettings, say: Callable[[InstallPhase, str], None]
) -> FetchedFiles:
    """Put a pack's files into `room`, and return their root. An archive is downloaded, checked and unpacked.

    A directory is copied.

    Raises:
        UserError: If the files cannot be fetched, their SHA-256 is wrong, or they break a rule for archives.
        OSError: If the files cannot be written.
    """
    from benchwright.packs.install.download import download

    limits = settings.limits
    if isinstance(found.source, Directory):
        say("extracting", f"Copying {found.origin}")
        return FetchedFiles(copy_directory(Path(found.origin), room / "tree", limits))
    archive = room / "archive.tar.gz"
    say("downloading", f"{'Downloading' if isinstance(found.source, Archive) else 'Reading'} {found.origin}")
    if isinstance(found.source, Archive):
        sha256 = download(found.origin, archive, limits.archive_bytes, limits)
    else:
        sha256 = _read(Path(found.origin), archive, limits.archive_bytes)
    if found.sha256 not in (None, sha256):
        raise UserError(
            f"The archive is not the expected one: its SHA-256 is {sha256}, expected {found.sha256}."
        )
    say("extracting", f"Unpacking {archive.stat().st_size:,} bytes")
    return FetchedFiles(extract_archive(archive, room / "tree", limits), sha256)


def _archive(source: GitHub | Archive, settings: InstallSettings) -> Archive:
    return Archive(source.url(settings.github_archive)) if isinstance(source, GitHub) else source


def _read(path: Path, target: Path, largest: int) -> str:
    """Copy an archive to `target`, so that the checked file is the unpacked file. Return its SHA-256."""
    try:
        if path.stat().st_size > largest:
            raise UserError(f"{path} is larger than {largest:,} bytes.")
        shutil.copyfile(path, target)
    except FileNotFoundError:
        raise UserError(f"{path} no longer exists.") from None
    return file_digest(target)
