"""Fingerprints of a user's source code. When the code changes, results made with it are no longer reused."""

from __future__ import annotations

import ast
import functools
import inspect
import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

import xxhash

from benchwright.runs.local_imports import find_local_imports, is_benchwright_file

MAIN_MODULE = "__main__"
FINGERPRINTED_VALUE_TYPES = (bool, int, float, str, bytes, tuple, frozenset, type(None))
"""Types of plain values.

If a function in a script uses a variable of one of these types, the variable's value is part of the
function's fingerprint.
"""


def source_fingerprint(source: object) -> str | None:
    """Return a digest (xxh3, 128 bits, hex) of the source code behind a path or an object.

    None if it is not found.

    - A path: the file at this path.
    - A module: its file. A package: all its `*.py` files.
    - A function, class or instance: the file in which it (or its class) is defined.
    - An object defined in a script or a notebook: the object's own source and the code of the script that it
      uses. The rest of the script does not influence the object.

    Files of the user's own project that this code imports are included, recursively (see `find_local_imports`).
    Installed modules are not. File names are relative to their project, so moving a project does not change the
    digest.
    """
    digest = xxhash.xxh3_128()
    texts = list(_texts_in_main(source))
    path = None if texts else _source_path(source)
    if not texts and (path is None or not path.exists()):
        return None
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass"))
    files = {} if path is None else dict(_source_files(path))
    for name, file in files.items():
        _take_in(name, file, digest)
    modules = [file for file in files.values() if file.suffix == ".py"]
    for file, name in find_local_imports(modules, texts).items():
        _take_in(f"import {name}", file, digest)
    return digest.hexdigest()


def user_source_fingerprint(source: object) -> str | None:
    """Return the `source_fingerprint` of a user's code. None if the code is not found or is Benchwright's own."""
    path = _source_path(source)
    return None if path is not None and is_benchwright_file(path.resolve()) else source_fingerprint(source)


def fingerprint_or_unique(fingerprint: str | None) -> str:
    """Return the fingerprint. If it is None, return a unique one, so that results of unknown code are not reused."""
    return fingerprint or f"unknown-{uuid4().hex}"


def _take_in(name: str, file: Path, digest: xxhash.xxh3_128) -> None:
    content = file.read_bytes()
    digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
    digest.update(content)


def _source_path(source: object) -> Path | None:
    if isinstance(source, str | os.PathLike):
        return Path(source)
    if isinstance(source, ModuleType):
        folders = list(getattr(source, "__path__", ()))
        file = folders[0] if folders else getattr(source, "__file__", None)
    else:
        file = _defining_file(source)
    return Path(file) if file else None


def _texts_in_main(source: object) -> Iterator[str]:
    """Yield the code of a function or class defined in `__main__`, and the code in `__main__` that it uses.

    The used code includes other functions and classes, plain values, and the imports of modules and of names
    from modules. For other objects, nothing is yielded.
    """
    if isinstance(source, str | os.PathLike | ModuleType):
        return
    waiting = [_definition(source)]
    seen: set[int] = set()
    while waiting:
        defined = waiting.pop()
        text = _source_in_main(defined)
        if text is None or id(defined) in seen:
            continue
        seen.add(id(defined))
        yield text
        for name, value in _used_of_main(text):
            if isinstance(value, FINGERPRINTED_VALUE_TYPES):
                yield f"{name} = {value!r}\n"
            elif _source_in_main(_definition(value)) is not None:
                waiting.append(_definition(value))
            elif module := _module_of(value):
                yield f"import {module}\n"


def _source_in_main(defined: Any) -> str | None:
    if getattr(defined, "__module__", None) != MAIN_MODULE:
        return None
    try:
        return textwrap.dedent(inspect.getsource(defined))
    except (OSError, TypeError):
        return None


def _used_of_main(text: str) -> Iterator[tuple[str, object]]:
    """Yield (name, value) for each name that a piece of code uses and `__main__` defines, in order."""
    known = vars(sys.modules[MAIN_MODULE])
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    yield from ((name, known[name]) for name in sorted(names) if name in known)


def _module_of(value: object) -> str:
    """Return the name of the module that a value is, or in which it is defined. Empty if there is none."""
    name = (
        value.__name__ if isinstance(value, ModuleType) else getattr(_definition(value), "__module__", None)
    )
    return name if isinstance(name, str) and name not in (MAIN_MODULE, "builtins") else ""


def _definition(source: object) -> Any:
    """Return the function or class that `source` is, wraps, or is an instance of."""
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
    """Yield (name, file) for a file. For a directory, yield them for all `*.py` files below it, sorted by name."""
    if path.is_file():
        yield "", path
        return
    files = {file.relative_to(path).as_posix(): file for file in path.rglob("*.py") if not file.is_symlink()}
    yield from sorted(files.items())
