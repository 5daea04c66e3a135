"""Installs, updates and removes packs. A new version is staged, checked, and then made current by one rename.

If the process fails or is killed before that rename, the former version stays unchanged. The functions block.
Never call them on an event loop.
"""

from __future__ import annotations

import errno
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchwright.errors import UserError
from benchwright.files import write_atomically
from benchwright.packs.inspection import inspect_pack
from benchwright.packs.install.digest import file_digests, tree_digest
from benchwright.packs.install.installed_packs import InstalledPack, find_changes, find_installed
from benchwright.packs.install.settings import (
    DEFAULT_SETTINGS,
    ArchiveError,
    InstallAction,
    InstallPhase,
    InstallProgress,
    InstallSettings,
    ProgressCallback,
    ignore_progress,
)
from benchwright.packs.install.sources import (
    Directory,
    PackSource,
    RegistryPack,
    describe_source,
    normalize_sha256,
    parse_source,
)
from benchwright.packs.install.storage import (
    CURRENT_FILE,
    VERSIONS_FOLDER,
    CurrentVersion,
    InstallRecord,
    install_record_path,
    lock_storage,
    move_tree,
    read_current_version,
    remove_old_versions,
    remove_tree,
    staging_directory,
    utc_now,
)
from benchwright.packs.manifest import PackManifest
from benchwright.records import Record

if TYPE_CHECKING:
    from benchwright.packs.install.fetching import FetchedFiles, PackLocation


class UpdateResult(Record, frozen=True):
    """The result of an update: the pack's present state. `changed`: False if the pack was already up to date."""

    pack: InstalledPack
    changed: bool


def install(
    source: str,
    storage: Path,
    settings: InstallSettings = DEFAULT_SETTINGS,
    *,
    sha256: str | None = None,
    copy: bool = False,
    report: ProgressCallback = ignore_progress,
) -> InstalledPack:
    """Install the pack named by SOURCE (see `parse_source`), make it the current version, and return it.

    A directory is used in place. With `copy`, the directory is copied into the storage. `sha256`: the
    expected digest of the archive.

    Raises:
        UserError: If the pack cannot be fetched, is incomplete or invalid, or is incompatible with this host.
            The former version then stays installed.
    """
    try:
        expected = None if sha256 is None else normalize_sha256(sha256)
    except ValueError as error:
        raise UserError(f"{error}.") from None
    parsed = parse_source(source, copy=copy)
    if expected and isinstance(parsed, Directory):
        raise UserError("A SHA-256 goes with an archive; a directory has none.")
    return _Job("install", storage, settings, report).run(parsed, expected).pack


def update(
    pack_id: str,
    storage: Path,
    settings: InstallSettings = DEFAULT_SETTINGS,
    *,
    report: ProgressCallback = ignore_progress,
) -> UpdateResult:
    """Install a pack again from its source. Do nothing if the installed files are the same as those of the source.

    A pack without a recorded source is looked up in the registry. A pack that is used in place needs no
    update.

    Raises:
        UserError: If the pack is not installed, or for the reasons of `install`.
    """
    former = find_installed(pack_id, storage, settings.compatible_version)
    job = _Job("update", storage, settings, report, former)
    if former.local:
        return job.unchanged(f"{pack_id} is used where it is, in {former.directory}")
    return job.run(former.record.source if former.record else RegistryPack(pack_id))


def uninstall(pack_id: str, storage: Path, *, report: ProgressCallback = ignore_progress) -> None:
    """Remove an installed pack from the storage. A directory that is used in place is not touched.

    Raises:
        UserError: If the pack is not installed or cannot be removed.
    """
    find_installed(pack_id, storage)
    home = storage / pack_id
    report(InstallProgress("uninstall", "removing", f"Removing {home}", pack_id))
    with _plain_errors(storage), staging_directory(storage) as room, lock_storage(storage):
        try:
            os.rename(home, room / "removed")
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            (home / CURRENT_FILE).unlink(missing_ok=True)
            remove_tree(home)
    report(InstallProgress("uninstall", "complete", f"{pack_id} is removed", pack_id))


class _Job:
    """One installation or update, from finding the source to making the new version current."""

    def __init__(
        self,
        action: InstallAction,
        storage: Path,
        settings: InstallSettings,
        report: ProgressCallback,
        former: InstalledPack | None = None,
    ) -> None:
        self._action: InstallAction = action
        self._storage = storage
        self._settings = settings
        self._report = report
        self._former = former
        self._pack_id = former.id if former else None

    def run(self, source: PackSource, sha256: str | None = None) -> UpdateResult:
        from benchwright.packs.install.fetching import locate_source

        self._say("resolving", f"Looking up {describe_source(source)}")
        with _plain_errors(self._storage):
            found = locate_source(source, self._settings)
            self._expect(found)
            if sha256 is not None:
                found = msgspec.structs.replace(found, sha256=sha256)
            if isinstance(found.source, Directory) and not found.source.copied:
                return self._use_in_place(Path(found.source.path))
            if self._is_known(found):
                return self.unchanged(f"{self._pack_id} is up to date")
            return self._stage(source, found)

    def unchanged(self, message: str) -> UpdateResult:
        assert self._former is not None
        self._say("complete", message)
        return UpdateResult(self._former, False)

    def _stage(self, source: PackSource, found: PackLocation) -> UpdateResult:
        from benchwright.packs.install.fetching import fetch_files

        with staging_directory(self._storage) as room:
            try:
                fetched = fetch_files(found, room, self._settings, self._say)
            except ArchiveError as error:
                raise ArchiveError(f"{found.origin} is not installed: {error}.") from None
            self._say("validating", "Checking the manifest, the requirements and the entry")
            manifest = self._validated(fetched.root, found.origin)
            files = file_digests(fetched.root)
            digest = tree_digest(files)
            record = InstallRecord(source, found.origin, digest, files, utc_now(), fetched.archive_sha256)
            if self._has(digest):
                return self.unchanged(f"{manifest.id} {manifest.version} is up to date")
            self._check(fetched.root, manifest, found.origin)
            self._say("activating", f"Making {manifest.version} the current version")
            self._activate(fetched, manifest, record)
        return self._done(manifest.id)

    def _activate(self, fetched: FetchedFiles, manifest: PackManifest, record: InstallRecord) -> None:
        home = self._storage / manifest.id
        slug = re.sub(r"[^A-Za-z0-9.+_-]+", "-", manifest.version)[:60].lstrip(".") or "0"
        name = f"{slug}-{uuid.uuid4().hex[:8]}"
        with lock_storage(self._storage):
            former = read_current_version(home)
            version = home / VERSIONS_FOLDER / name
            version.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(install_record_path(version), msgspec.json.encode(record), durable=True)
            move_tree(fetched.root, version)
            self._switch(home, CurrentVersion(version=name, updated_at=utc_now()))
            remove_old_versions(home, name, former.version if former else name)

    def _use_in_place(self, directory: Path) -> UpdateResult:
        self._say("validating", "Checking the manifest, the requirements and the entry")
        manifest = self._validated(directory, str(directory))
        self._check(directory, manifest, str(directory))
        self._say("activating", f"Using {directory} where it is")
        with lock_storage(self._storage):
            home = self._storage / manifest.id
            home.mkdir(exist_ok=True)
            self._switch(home, CurrentVersion(local=str(directory), updated_at=utc_now()))
        return self._done(manifest.id)

    def _switch(self, home: Path, current: CurrentVersion) -> None:
        write_atomically(home / CURRENT_FILE, msgspec.json.encode(current), durable=True)

    def _done(self, pack_id: str) -> UpdateResult:
        pack = find_installed(pack_id, self._storage, self._settings.compatible_version)
        self._say("complete", f"{pack_id} is installed in {pack.directory}")
        return UpdateResult(pack, True)

    def _validated(self, root: Path, origin: str) -> PackManifest:
        inspection = inspect_pack(root, self._settings.compatible_version)
        manifest = inspection.manifest
        if inspection.status == "manifest_missing":
            raise UserError(f"{origin} is not installed: there is no benchlocal.pack.json in it.")
        if inspection.status != "ready" or manifest is None:
            reason = (inspection.error or inspection.status).replace(f"{root}{os.sep}", "")
            raise UserError(f"{origin} is not installed: {reason.removesuffix('.')}.")
        if self._pack_id not in (None, manifest.id):
            raise UserError(f"{origin} is not installed: it is {manifest.id}, not {self._pack_id}.")
        self._pack_id = manifest.id
        return manifest

    def _check(self, root: Path, manifest: PackManifest, origin: str) -> None:
        try:
            self._settings.pack_check(root, manifest)
        except UserError as error:
            raise UserError(f"{origin} is not installed: {str(error).removesuffix('.')}.") from None

    def _expect(self, found: PackLocation) -> None:
        self._pack_id = self._pack_id or found.pack_id

    def _is_known(self, found: PackLocation) -> bool:
        """Return True if the installed version and address are the registry's, and no installed file was changed."""
        former = self._former
        if former is None or former.record is None or former.inspection.manifest is None:
            return False
        record = former.record
        same = (found.version, found.origin) == (former.inspection.manifest.version, record.origin)
        return same and found.sha256 in (None, record.archive_sha256) and find_changes(former) == []

    def _has(self, tree_sha256: str) -> bool:
        """Return True if the new files are identical to the installed files, and no installed file was changed."""
        former = self._former
        recorded = former.record.tree_sha256 if former and former.record else None
        return former is not None and recorded == tree_sha256 and find_changes(former) == []

    def _say(self, phase: InstallPhase, message: str) -> None:
        self._report(InstallProgress(self._action, phase, message, self._pack_id))


@contextmanager
def _plain_errors(storage: Path) -> Iterator[None]:
    """Convert errors of the file system into UserErrors with a message of one line."""
    try:
        yield
    except OSError as error:
        place = error.filename or storage
        raise UserError(f"{place}: {error.strerror or error}; nothing was changed.") from None
