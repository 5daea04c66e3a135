"""Limits, progress and settings of an installation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from benchwright.errors import UserError
from benchwright.packs.install.sources import GITHUB_ARCHIVE
from benchwright.packs.manifest import PackManifest
from benchwright.packs.versions import COMPATIBLE_VERSION
from benchwright.records import Record

REGISTRY = "https://raw.githubusercontent.com/stevibe/benchlocal-registry/main/registry.json"
"""The official list of packs."""

MEBIBYTE = 1024 * 1024
CHUNK = 256 * 1024
"""Bytes that are read at once."""


class ArchiveError(UserError):
    """A pack's files are over a limit, or break another rule; the archive may be broken."""


class InstallLimits(Record, frozen=True):
    """Limits of a pack's download (bytes, seconds), and of its content.

    Sizes are counted while unpacking, never taken from a header. `ratio` is how often larger than the archive
    its content may be, once it is over `ratio_from` bytes; `depth` counts the parts of a path, `name_bytes`
    those of a whole path.
    """

    archive_bytes: int = 256 * MEBIBYTE
    registry_bytes: int = 8 * MEBIBYTE
    connect_seconds: float = 10.0
    silence_seconds: float = 30.0
    download_seconds: float = 600.0
    redirects: int = 5

    total_bytes: int = 1024 * MEBIBYTE
    file_bytes: int = 256 * MEBIBYTE
    entries: int = 20_000
    ratio: int = 200
    ratio_from: int = 16 * MEBIBYTE
    depth: int = 32
    name_bytes: int = 1024


Action = Literal["install", "update", "uninstall"]
Phase = Literal["resolving", "downloading", "extracting", "validating", "activating", "removing", "complete"]


class InstallProgress(Record, frozen=True):
    """A phase that begins. `pack_id` is None until it is known."""

    action: Action
    phase: Phase
    message: str
    pack_id: str | None = None


Report = Callable[[InstallProgress], None]


Check = Callable[[Path, PackManifest], None]
"""A last look at a pack before it is installed; raises UserError with what keeps it from being used."""


def quiet(progress: InstallProgress) -> None:
    """Reports nothing."""


def unchecked(directory: Path, manifest: PackManifest) -> None:
    """Finds nothing."""


class InstallSettings(Record, frozen=True):
    """`registry` is an address or a path; `github_archive` is an address with {repository} and {tag} in it.

    `check` looks at the files of a pack before it takes the place of what was installed.
    """

    registry: str = REGISTRY
    github_archive: str = GITHUB_ARCHIVE
    compatible_version: str = COMPATIBLE_VERSION
    limits: InstallLimits = InstallLimits()
    check: Check = unchecked


DEFAULTS = InstallSettings()
