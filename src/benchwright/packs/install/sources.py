"""Sources of packs, as typed on the command line or recorded when a pack was installed."""

from __future__ import annotations

import base64
import binascii
import os
import re

from benchwright.errors import UserError
from benchwright.packs.manifest import MANIFEST_NAME
from benchwright.packs.manifest_check import PACK_ID_PATTERN
from benchwright.records import Record
from benchwright.user_paths import expand_user_path

GITHUB_ARCHIVE = "https://codeload.github.com/{repository}/tar.gz/refs/tags/{tag}"
ARCHIVE_SUFFIXES = (".tar.gz", ".tgz")

_REPOSITORY = re.compile(r"[A-Za-z0-9-]{1,39}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}", re.ASCII)
_TAG = re.compile(r"(?!.*\.\.)[A-Za-z0-9._+-][A-Za-z0-9._+/-]{0,199}", re.ASCII)
_ON_GITHUB = re.compile(
    r"(?:https?://(?:www\.)?github\.com/|github:)?"
    r"(?P<repository>[^/@\s:]+/[^/@\s:]+?)(?:\.git)?(?:@|/tree/|/releases/tag/)(?P<tag>[^@\s]+)"
)


class RegistryPack(Record, frozen=True, tag="registry"):
    """A pack in the registry."""

    id: str


class Archive(Record, frozen=True, tag="archive"):
    """A .tar.gz file at an http or https address."""

    url: str


class ArchiveFile(Record, frozen=True, tag="file"):
    """A .tar.gz file on this machine."""

    path: str


class Directory(Record, frozen=True, tag="directory"):
    """A pack's directory on this machine.

    `copied`: True if it is copied into the storage, False if it is used in place.
    """

    path: str
    copied: bool = False


class GitHub(Record, frozen=True, tag="github"):
    """A tag of a GitHub repository."""

    repository: str
    tag: str

    @classmethod
    def create_validated(cls, repository: str, tag: str) -> GitHub:
        """Return the source for a repository and tag. Raise ValueError if the repository or the tag is invalid."""
        if not _REPOSITORY.fullmatch(repository):
            raise ValueError(f"{repository!r} is not a GitHub repository (owner/name)")
        if not _TAG.fullmatch(tag):
            raise ValueError(f"{tag!r} is not a tag")
        return cls(repository, tag)

    def url(self, template: str) -> str:
        """Return the address of the tag's archive. `template`: an address with {repository} and {tag}."""
        return template.replace("{repository}", self.repository).replace("{tag}", self.tag)


PackSource = RegistryPack | Archive | ArchiveFile | Directory | GitHub


def parse_source(text: str, *, copy: bool = False) -> PackSource:
    """Parse the source of a pack as typed on the command line (SOURCE).

    A source is one of these: a directory (with a manifest, or written as a path); an http or https address
    (of a tag on GitHub, or of a .tar.gz); a .tar.gz file; `owner/repository@tag`; the name of a pack in the
    registry.

    Raises:
        UserError: If the text is none of these.
    """
    path = expand_user_path(text)
    if path.is_dir() and (os.sep in text or text in (".", "..") or (path / MANIFEST_NAME).is_file()):
        return Directory(str(path.resolve()), copy)
    if match := _ON_GITHUB.fullmatch(text):
        try:
            return GitHub.create_validated(match["repository"], match["tag"])
        except ValueError as error:
            raise UserError(f"Cannot install {text!r}: {error}.") from None
    if is_http_url(text):
        return Archive(text)
    if path.is_file():
        return ArchiveFile(str(path.resolve()))
    if PACK_ID_PATTERN.fullmatch(text) and not text.endswith(ARCHIVE_SUFFIXES):
        return RegistryPack(text)
    if _REPOSITORY.fullmatch(text) and not text.endswith(ARCHIVE_SUFFIXES):
        raise UserError(
            f"There is no directory {text}; for a GitHub repository, give a tag too: {text}@v1.0.0."
        )
    raise UserError(
        f"There is no file or directory {text!r}. Give the name of a pack in the registry, the address or path "
        "of a .tar.gz, a directory, or owner/repository@tag."
    )


def describe_source(source: PackSource) -> str:
    """Describe a source in words, for messages."""
    match source:
        case RegistryPack(id=pack_id):
            return f"the registry ({pack_id})"
        case Archive(url=url):
            return url
        case GitHub(repository=repository, tag=tag):
            return f"GitHub ({repository}@{tag})"
        case ArchiveFile(path=path) | Directory(path=path):
            return path


def is_http_url(text: str) -> bool:
    """Return True if a text starts with `http://` or `https://`."""
    return text.lower().startswith(("http://", "https://"))


def normalize_sha256(text: str) -> str:
    """Convert a SHA-256 in one of several notations into hexadecimal digits in lower case.

    The notations are hexadecimal digits, with or without `sha256:` before them, and `sha256-<base64>`.

    Raises:
        ValueError: If the text is not a SHA-256.
    """
    plain = text.strip()
    if plain.startswith("sha256-"):
        try:
            plain = base64.b64decode(plain.removeprefix("sha256-"), validate=True).hex()
        except (binascii.Error, ValueError):
            plain = ""
    plain = plain.removeprefix("sha256:").lower()
    if not re.fullmatch(r"[0-9a-f]{64}", plain):
        raise ValueError(f"{text!r} is not a SHA-256 (64 hexadecimal digits)")
    return plain
