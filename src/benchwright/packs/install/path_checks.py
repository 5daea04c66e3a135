"""Checks the file names in a pack from elsewhere. They must be allowed, and must not be ambiguous."""

from __future__ import annotations

import unicodedata

from benchwright.packs.install.settings import ArchiveError, InstallLimits

MAX_FILE_NAME_BYTES = 255
"""Maximum length of a file name on common file systems, in bytes."""


class CheckedPaths:
    """The paths of a pack's files, each checked when it is added. A path is a directory or a leaf (a file or link).

    Paths are compared as on file systems that fold case and normalise Unicode, so that a tree is the same on
    all file systems.
    """

    def __init__(self, limits: InstallLimits) -> None:
        self._limits = limits
        self._known: dict[str, tuple[str, bool]] = {}

    def add(self, name: str, *, directory: bool) -> str | None:
        """Add a path and its parent directories. Return the path in normal form, or None for the top directory.

        Raises:
            ArchiveError: If the path leads out of the tree, is too long or too deep, contains forbidden
                characters, or conflicts with another path.
        """
        parts = self._parts(name)
        if not parts:
            if not directory:
                raise ArchiveError(f"{name!r} is not a valid file name")
            return None
        for length in range(1, len(parts) + 1):
            self._enter("/".join(parts[:length]), directory=directory or length < len(parts))
        return "/".join(parts)

    def is_file(self, path: str) -> bool:
        """Return True if this path was added as a file or link. `path`: in normal form."""
        return self._known.get(_folded(path)) == (path, False)

    def _parts(self, name: str) -> list[str]:
        try:
            size = len(name.encode())
        except UnicodeEncodeError:
            raise ArchiveError(f"{name!r} is not valid UTF-8") from None
        if name.startswith("/"):
            raise ArchiveError(f"{name!r} is an absolute path")
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise ArchiveError(f"{name!r} leads out of the pack")
        if "\\" in name or any(unicodedata.category(character) in ("Cc", "Cf") for character in name):
            raise ArchiveError(f"{name!r} holds a backslash or a control character")
        if size > self._limits.max_path_bytes or any(
            len(part.encode()) > MAX_FILE_NAME_BYTES for part in parts
        ):
            raise ArchiveError(f"{name[:60]!r}... is too long a name")
        if len(parts) > self._limits.max_path_depth:
            raise ArchiveError(
                f"{name[:60]!r}... is more than {self._limits.max_path_depth} directories deep"
            )
        return parts

    def _enter(self, path: str, *, directory: bool) -> None:
        known = self._known.get(_folded(path))
        if known is None:
            self._known[_folded(path)] = path, directory
            return
        if known == (path, directory) and directory:
            return
        if known[0] != path:
            raise ArchiveError(f"{path!r} and {known[0]!r} differ only in case or Unicode form")
        if known[1] != directory:
            raise ArchiveError(f"{path!r} is both a directory and a file")
        raise ArchiveError(f"{path!r} appears twice")


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
