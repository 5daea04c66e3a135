"""Fingerprints of a user's source code: when it changes, what it made is no longer re-used."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

import xxhash


def source_fingerprint(source: object) -> str | None:
    """A digest (xxh3, 128 bits, hex) of the source code behind a path or an object; None if it is not found.

    A path is read as it is. A module stands for its file, a package for all its `*.py` files, a function, a
    class or an instance for the file that it (or its class) is written in. Where a directory is digested,
    the relative paths are too. Absolute paths never are: moving a project does not change it. Other modules
    that the source imports are not covered. What a script or a notebook defines stands for its own source: the rest of
    it says how it is used.
    """
    if (own := _source_in_main(source)) is not None:
        return xxhash.xxh3_128_hexdigest(own.encode())
    path = _source_path(source)
    if path is None or not path.exists():
        return None
    digest = xxhash.xxh3_128()
    for name, file in _source_files(path):
        content = file.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()


def known_or_unique(fingerprint: str | None) -> str:
    """The fingerprint, or one that nothing else has: what cannot be recognised again must not be re-used."""
    return fingerprint or f"unknown-{uuid4().hex}"


def _source_path(source: object) -> Path | None:
    if isinstance(source, str | os.PathLike):
        return Path(source)
    if isinstance(source, ModuleType):
        folders = list(getattr(source, "__path__", ()))
        file = folders[0] if folders else getattr(source, "__file__", None)
    else:
        file = _defining_file(source)
    return Path(file) if file else None


def _source_in_main(source: object) -> str | None:
    """The source of a function or class that the program itself defines, not a module; None of anything else."""
    if isinstance(source, str | os.PathLike | ModuleType):
        return None
    defined = _definition(source)
    if getattr(defined, "__module__", None) != "__main__":
        return None
    try:
        return inspect.getsource(defined)
    except (OSError, TypeError):
        return None


def _definition(source: object) -> Any:
    """The function or class that an object is, wraps, or is an instance of."""
    while isinstance(source, functools.partial):
        source = source.func
    if callable(source):
        source = inspect.unwrap(source)
    return source if inspect.isroutine(source) or inspect.isclass(source) else type(source)


def _defining_file(source: object) -> str | None:
    try:
        return inspect.getsourcefile(_definition(source))
    except TypeError:
        return None


def _source_files(path: Path) -> Iterator[tuple[str, Path]]:
    """(name, file) of a file, or of the `*.py` files below a directory in the order of their names."""
    if path.is_file():
        yield "", path
        return
    files = {file.relative_to(path).as_posix(): file for file in path.rglob("*.py") if not file.is_symlink()}
    yield from sorted(files.items())
