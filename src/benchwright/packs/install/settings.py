"""Limits and settings of installations, and the reports of an installation's progress."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from benchwright.errors import UserError
from benchwright.packs.install.sources import GITHUB_ARCHIVE
from benchwright.packs.manifest import PackManifest
from benchwright.packs.versions import COMPATIBLE_VERSION
from benchwright.records import Record

OFFICIAL_REGISTRY = "https://raw.githubusercontent.com/stevibe/benchlocal-registry/main/registry.json"
"""Address of the official list of packs."""

MEBIBYTE = 1024 * 1024
CHUNK_BYTES = 256 * 1024
"""Number of bytes read at once."""


class ArchiveError(UserError):
    """Raised if an archive is broken, or if a pack's files exceed a limit or break another rule."""


class InstallLimits(Record, frozen=True):
    """Limits of a pack's download (bytes, seconds), and limits of the pack's content.

    Sizes are counted while unpacking, never taken from a header. `max_compression_ratio`: the maximum ratio
    of the content's size to the archive's size; it applies to content of more than `ratio_limit_min_bytes`
    bytes. `max_path_depth`: the maximum number of components of a path. `max_path_bytes`: the maximum length
    of a whole path.
    """

    archive_bytes: int = 256 * MEBIBYTE
    registry_bytes: int = 8 * MEBIBYTE
    connect_seconds: float = 10.0
    silence_seconds: float = 30.0
    download_seconds: float = 600.0
    max_redirects: int = 5

    total_bytes: int = 1024 * MEBIBYTE
    file_bytes: int = 256 * MEBIBYTE
    max_entries: int = 20_000
    max_compression_ratio: int = 200
    ratio_limit_min_bytes: int = 16 * MEBIBYTE
    max_path_depth: int = 32
    max_path_bytes: int = 1024


InstallAction = Literal["install", "update", "uninstall"]
InstallPhase = Literal[
    "resolving", "downloading", "extracting", "validating", "activating", "removing", "complete"
]


class InstallProgress(Record, frozen=True):
    """A report that a phase of an installation begins. `pack_id`: None until the id is known."""

    action: InstallAction
    phase: InstallPhase
    message: str
    pack_id: str | None = None


ProgressCallback = Callable[[InstallProgress], None]


PackCheck = Callable[[Path, PackManifest], None]
"""Function that checks a pack last before it is installed. It raises UserError if the pack cannot be used."""


def ignore_progress(progress: InstallProgress) -> None:
    """Ignore a progress report."""


def accept_any_pack(directory: Path, manifest: PackManifest) -> None:
    """Accept any pack. This is the default check."""


class InstallSettings(Record, frozen=True):
    """Settings of an installation.

    `registry`: an address or a path. `github_archive`: an address with {repository} and {tag}. `pack_check`:
    called with a pack's files before they replace the former version.
    """

    registry: str = OFFICIAL_REGISTRY
    github_archive: str = GITHUB_ARCHIVE
    compatible_version: str = COMPATIBLE_VERSION
    limits: InstallLimits = InstallLimits()
    pack_check: PackCheck = accept_any_pack


DEFAULT_SETTINGS = InstallSettings()
