"""The inputs of an image build: a digest of the folder, and a Dockerfile that puts a label on intermediate images."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import xxhash

_FROM = re.compile(rb"\s*FROM\s", re.IGNORECASE)
_ESCAPE = re.compile(rb"\s*#\s*escape\s*=\s*(\S)", re.IGNORECASE)
_PIECE = 1024 * 1024


def content_digest(folder: Path, version: str) -> str:
    """Return a digest (24 digits) of a version and of a folder's files: their paths, contents, links and execute bits.

    Entries that are not files, links or folders are ignored, because they do not become part of an image.
    """
    digest = xxhash.xxh3_128(version.encode())
    for path in _files_below(folder):
        mode = path.lstat().st_mode
        name = os.fsencode(path.relative_to(folder).as_posix())
        if stat.S_ISLNK(mode):
            target = os.fsencode(os.readlink(path))
            digest.update(b"\0link %d %d\0%b%b" % (len(name), len(target), name, target))
        elif stat.S_ISREG(mode):
            size = path.stat().st_size
            digest.update(b"\0file %d %d %d\0%b" % (len(name), size, bool(mode & stat.S_IXUSR), name))
            with path.open("rb") as file:
                while piece := file.read(_PIECE):
                    digest.update(piece)
    return digest.hexdigest()[:24]


def _files_below(folder: Path) -> list[Path]:
    found = []
    for here, folders, files in os.walk(folder):
        found += [Path(here, name) for name in files]
        found += [Path(here, name) for name in folders if Path(here, name).is_symlink()]
    return sorted(found)


def with_label(dockerfile: bytes, name: str, value: str) -> bytes:
    """Return the Dockerfile with a label added at the start of each stage.

    If a build fails, the classic builder leaves an image for each step. The label is on the images of all
    steps after it, which distinguishes them from other people's images. (`docker build` would add the labels
    in its options last.)
    """
    lines = dockerfile.split(b"\n")
    escape = b"\\"
    if lines and (directive := _ESCAPE.match(lines[0])):
        escape = directive[1]
    label = f'LABEL {name}="{value}"'.encode()
    labelled: list[bytes] = []
    in_from = continued = False
    for line in lines:
        labelled.append(line)
        is_comment = line.lstrip().startswith(b"#")
        if not continued and not is_comment:
            in_from = _FROM.match(line) is not None
        continued = line.rstrip().endswith(escape) if not is_comment else continued
        if in_from and not continued and not is_comment:
            labelled.append(label)
            in_from = False
    return b"\n".join(labelled)
