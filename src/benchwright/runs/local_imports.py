"""Finds the files of a user's own project that a piece of code imports. Code is only parsed, never run.

A file is local if it is below the folder from which the code was imported, the working directory, or a folder
in PYTHONPATH. Installed files are not local: the standard library, site-packages and Benchwright itself.

Imports count wherever they are written, also within functions. Imported files are searched for imports in
turn. If a module imports by a computed name, all modules of its folder count. Three kinds of files are not
found: files that code reads or executes by itself, compiled modules, and modules in folders that a function
puts on `sys.path` when it is called.
"""

from __future__ import annotations

import ast
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

INIT_FILE = "__init__.py"
OWN_PACKAGES = frozenset({"benchwright", "osmosis_ai", "llm_benchmarker"})
INSTALLED_FOLDERS = frozenset({"site-packages", "dist-packages"})
IMPORT_FUNCTIONS = frozenset({"import_module", "__import__"})
"""Names of functions that import the module named by their first argument."""

MAX_SEARCHED_FILES = 2_000
"""Maximum number of files that are searched for imports. The imports in any further files are not found."""


class FileImports(NamedTuple):
    """The imports of a file.

    `modules`: (level, module, names) of each import, as in `from module import names`, with `level` leading
    dots. `has_computed_imports`: True if the file also imports by names that are only known at run time.
    """

    modules: tuple[tuple[int, str, tuple[str, ...]], ...]
    has_computed_imports: bool


def find_local_imports(files: Iterable[Path], texts: Iterable[str] = ()) -> dict[Path, str]:
    """Return the local files that `files` import, as a mapping to their names inside the project, sorted by
    name.

    The given files themselves are left out. `texts` are further pieces of code, from a script or a notebook.
    """
    given = [file.resolve() for file in files]
    roots = _roots(given)
    here = Path.cwd() / "a script"
    waiting = [file for file in given if not _is_installed(file)]
    waiting += [
        one for file in waiting for one in _packages(file) if one not in given and _is_local(one, roots)
    ]
    waiting += [one for text in texts for one in _resolved(imports_in_code(text), here, roots)]
    seen = {*given, *waiting}
    while waiting and len(seen) < MAX_SEARCHED_FILES:
        file = waiting.pop()
        for one in _resolved(imports_in_file(file), file, roots):
            if one not in seen:
                seen.add(one)
                waiting.append(one)
    named = {file: _name(file, roots) for file in seen.difference(given)}
    return dict(sorted(named.items(), key=lambda item: item[1]))


def _roots(files: Sequence[Path]) -> list[Path]:
    """Return the folders below which modules are local.

    Folders on `sys.path` that are inside them are included.
    """
    typed = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    own = [*(_import_root(file) for file in files), Path.cwd(), *(Path(one) for one in typed if one)]
    bases = list(dict.fromkeys(one.resolve() for one in own))
    added = [Path(one).resolve() for one in sys.path if one]
    within = [one for one in added if one.is_dir() and any(one.is_relative_to(base) for base in bases)]
    return [one for one in dict.fromkeys([*bases, *within]) if not _is_installed(one)]


def _import_root(file: Path) -> Path:
    """Return the folder from which a file is imported: the nearest folder above it that is not a package."""
    folder = file.parent
    while (folder / INIT_FILE).is_file() and folder.parent != folder:
        folder = folder.parent
    return folder


def _packages(file: Path) -> list[Path]:
    """Return the `__init__.py` files that Python runs before a file of a package."""
    folders = (folder for folder in file.parents if folder.is_relative_to(_import_root(file)))
    return [folder / INIT_FILE for folder in folders if (folder / INIT_FILE).is_file()]


def _name(file: Path, roots: Sequence[Path]) -> str:
    """Return the path of a file relative to its project. It does not change when the project is moved."""
    within = [file.relative_to(root).as_posix() for root in roots if file.is_relative_to(root)]
    return min(within, key=len, default=file.name)


def _resolved(imports: FileImports, file: Path, roots: Sequence[Path]) -> Iterator[Path]:
    """Yield the local files that a file imports, and the `__init__.py` files of their packages."""
    for level, module, names in imports.modules:
        parts = module.split(".") if module else []
        if not level and (parts[0] in sys.stdlib_module_names or parts[0] in OWN_PACKAGES):
            continue
        places = [_above(file, level)] if level else roots
        for place in places:
            found = list(_files_of(place, parts, names))
            yield from (one for one in found if _is_local(one, roots))
            if found:
                break
        else:
            yield from (one for one in _loaded(module, names) if _is_local(one, roots))
    if imports.has_computed_imports:
        yield from (
            one.resolve() for one in sorted(file.parent.glob("*.py")) if _is_local(one.resolve(), roots)
        )


def imports_in_file(file: Path) -> FileImports:
    """Return all imports in a Python file. Empty if the file cannot be parsed."""
    try:
        state = file.stat()
        return _parsed(file, state.st_mtime_ns, state.st_size)
    except OSError:
        return FileImports((), has_computed_imports=False)


@cache
def _parsed(file: Path, _changed: int, _size: int) -> FileImports:
    return imports_in_code(file.read_bytes())


def imports_in_code(code: str | bytes) -> FileImports:
    """Return all imports in a piece of code. Empty if the code cannot be parsed."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return FileImports((), has_computed_imports=False)
    named: dict[tuple[int, str, tuple[str, ...]], None] = {}
    computed = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named |= {(0, alias.name, ()): None for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            named[node.level, node.module or "", tuple(alias.name for alias in node.names)] = None
        elif isinstance(node, ast.Call) and _called(node) in IMPORT_FUNCTIONS and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                module = first.value.lstrip(".")
                named[len(first.value) - len(module), module, ()] = None
            else:
                computed = True
    return FileImports(tuple(named), computed)


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _above(file: Path, level: int) -> Path:
    """Return the package in which a relative import with `level` leading dots, written in `file`, begins."""
    folder = file.parent
    for _ in range(level - 1):
        folder = folder.parent
    return folder


def _files_of(place: Path, parts: Sequence[str], names: Sequence[str]) -> Iterator[Path]:
    """Yield the files that Python runs when a module is imported from the folder `place`.

    `parts` is the dotted name of the module. The files are the `__init__.py` of each package on the way, the
    module itself, and each of `names` that is a module.
    """
    folder = place
    for number, part in enumerate(parts, 1):
        if (
            number == len(parts)
            and not (folder / part / INIT_FILE).is_file()
            and (folder / f"{part}.py").is_file()
        ):
            yield (folder / f"{part}.py").resolve()
            return
        folder = folder / part
        if not folder.is_dir():
            return
        if (folder / INIT_FILE).is_file():
            yield (folder / INIT_FILE).resolve()
    if not parts and (folder / INIT_FILE).is_file():
        yield (folder / INIT_FILE).resolve()
    for name in names:
        inner = [one for one in (folder / name / INIT_FILE, folder / f"{name}.py") if one.is_file()]
        yield from (one.resolve() for one in inner[:1])


def _loaded(module: str, names: Sequence[str]) -> Iterator[Path]:
    """Yield the files of a module that is already loaded. It is used if no folder contains the module."""
    for name in (module, *(f"{module}.{one}" for one in names)):
        file = getattr(sys.modules.get(name), "__file__", None)
        if isinstance(file, str) and file.endswith(".py"):
            yield Path(file).resolve()


def _is_local(file: Path, roots: Sequence[Path]) -> bool:
    within = any(file.is_relative_to(root) for root in roots)
    return within and not _is_installed(file) and not is_benchwright_file(file)


def is_benchwright_file(file: Path) -> bool:
    """Return True if a file is part of Benchwright itself."""
    return any(file.is_relative_to(folder) for folder in _own_folders())


def _is_installed(path: Path) -> bool:
    return not INSTALLED_FOLDERS.isdisjoint(path.parts) or any(
        path.is_relative_to(one) for one in _standard_library()
    )


@cache
def _standard_library() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    return tuple({Path(paths[name]).resolve() for name in ("stdlib", "platstdlib")})


@cache
def _own_folders() -> tuple[Path, ...]:
    """Return the folders of Benchwright's own packages. In a clone, they are below the working directory."""
    source = Path(__file__).resolve().parents[2]
    return tuple(source / name for name in OWN_PACKAGES)
