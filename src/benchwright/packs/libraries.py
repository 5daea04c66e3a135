"""The npm libraries that the desktop host (BenchLocal) provides to every pack.

npm fetches them in pinned versions. They are never shipped with Benchwright. Names, versions and digests are
those in the lock files of BenchLocal v0.2.7 (commit 384de6f) and v0.3.0.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path

from benchwright.errors import UserError
from benchwright.packs.install.settings import ArchiveError, InstallLimits
from benchwright.packs.install.unpack import extract_archive
from benchwright.records import DECODE_ERRORS, Record

NPM_SECONDS = 120.0

NPM_PROGRAM = "npm"
"""Name of the program that fetches the libraries. It is looked up on the PATH."""

INSTALL_COMMAND = "benchwright pack runtime install"
"""The command that installs the libraries.

If a pack fails because it lacks a library, its error names this command (`missing` in node/supplied.cjs).
"""


class Library(Record, frozen=True):
    """An npm package. `integrity`: the digest of the package's archive, in the format of npm's lock files."""

    name: str
    version: str
    integrity: str


LIBRARIES = (
    Library(
        "zod",
        "3.25.76",
        "sha512-gzUt/qt81nXsFGKIFcC3YnfEAx5NkunCfnDlvuBSSFS02bcXu4Lmea0AFIUwbLWxWPx3d9p8S5QoaujKcNQxcQ==",
    ),
    Library(
        "smol-toml",
        "1.6.1",
        "sha512-dWUG8F5sIIARXih1DTaQAX4SsiTXhInKf1buxdY9DIg4ZYPZK5nGM1VRIYmEbDbsHt7USo99xSLFu5Q1IqTmsg==",
    ),
)


def installed_version(library: Library, directory: Path) -> str | None:
    """Return the version of a library that is installed in `directory`. Return None if it is not installed."""
    try:
        version = json.loads((_place(library, directory) / "package.json").read_bytes()).get("version")
    except (OSError, *DECODE_ERRORS):
        return None
    return version if isinstance(version, str) else None


def install_library(
    library: Library, directory: Path, npm: str = NPM_PROGRAM, archive: Path | None = None
) -> None:
    """Install a library into `directory`, from `archive` or fetched by npm. No code of the library is run.

    Raises:
        UserError: If the library cannot be fetched, or its digest is wrong. A former installation is then
            kept.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fetching-", dir=directory) as room:
        packed = archive or _fetched(library, Path(room), npm)
        if (found := _integrity(packed)) != library.integrity:
            raise UserError(
                f"{library.name} {library.version} is not installed: its archive has the digest {found}, expected "
                f"{library.integrity}."
            )
        try:
            root = extract_archive(packed, Path(room, "tree"), InstallLimits())
        except ArchiveError as error:
            raise UserError(f"{library.name} {library.version} is not installed: {error}.") from None
        _put(root, _place(library, directory), Path(room))


def is_missing_library(error: Exception) -> bool:
    """Return True if the error means that a pack failed to load because a library is missing."""
    return INSTALL_COMMAND in str(error)


def install_libraries(directory: Path, npm: str, say: Callable[[str], None]) -> list[Library]:
    """Install each library that is missing or has another version. Return the libraries that were installed.

    Raises:
        UserError: If a library cannot be installed; see `install_library`.
    """
    lacking = [one for one in LIBRARIES if installed_version(one, directory) != one.version]
    for library in lacking:
        say(f"Fetching {library.name} {library.version}")
        install_library(library, directory, npm)
    return lacking


def _place(library: Library, directory: Path) -> Path:
    return directory / "node_modules" / library.name


def _fetched(library: Library, room: Path, npm: str) -> Path:
    """Fetch a library's archive with npm, under the user's own npm settings. Return the archive's path."""
    program = shutil.which(npm)
    if program is None:
        raise UserError(
            f"There is no {npm!r} on the PATH: install Node.js with npm, or name the program with --npm."
        )
    wanted = f"{library.name}@{library.version}"
    command = [program, "pack", wanted, "--pack-destination", str(room), "--silent", "--ignore-scripts"]
    try:
        ended = subprocess.run(
            command, cwd=room, stdin=subprocess.DEVNULL, capture_output=True, timeout=NPM_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"npm did not fetch {wanted} within {NPM_SECONDS:g} seconds.") from None
    archives = list(room.glob("*.tgz"))
    if ended.returncode or len(archives) != 1:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        raise UserError(f"npm cannot fetch {wanted}: {said[0] if said else f'exit code {ended.returncode}'}.")
    return archives[0]


def _integrity(archive: Path) -> str:
    with open(archive, "rb") as file:
        digest = hashlib.file_digest(file, "sha512").digest()
    return f"sha512-{base64.b64encode(digest).decode()}"


def _put(root: Path, place: Path, room: Path) -> None:
    """Move the new folder `root` to `place`. If there is a former folder, it is moved into `room`, to be deleted."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        os.rename(place, room / f"former-{uuid.uuid4().hex}")
    os.rename(root, place)
