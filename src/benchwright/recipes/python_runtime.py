"""A Python for any Linux container of this machine's architecture: a copy of this Python, with its libraries.

This Python is started by its own dynamic loader, which finds the libraries beside it. So the image needs
neither a Python nor this machine's C library. Programs that it starts use the image's own loader and
libraries.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock

from benchwright.errors import UserError
from benchwright.home import agents_directory
from benchwright.python_commands import interpreter_path
from benchwright.runs.keys import fingerprint

LIBRARIES_FOLDER = "libraries"
"""Name of the folder of shared libraries, in a runtime and in the directory of an agent that needs more libraries."""
LOADER_FILE = "loader"

_VERSION = f"python{sys.version_info[0]}.{sys.version_info[1]}"
_WITHOUT = shutil.ignore_patterns("site-packages", "dist-packages", "test", "idlelib", "config-*")
_RESOLVED = re.compile(r"=> (/\S+) \(0x|^\s+(/\S+) \(0x", re.MULTILINE)


def container_runtime() -> Path:
    """Return the directory of the runtime (about 40 MB). The runtime is created on first use.

    Raises:
        UserError: If this machine's Python is not a dynamically linked Python for Linux.
    """
    directory = agents_directory() / f"python-{fingerprint(sys.version, interpreter_path())[:12]}"
    stamp = directory / LOADER_FILE
    directory.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(directory.with_name(f"{directory.name}.lock")):
        if not stamp.exists():
            shutil.rmtree(directory, ignore_errors=True)
            _make(directory, stamp)
    return directory


def python_command(runtime: str, *libraries: str) -> list[str]:
    """Return the command of the Python in a runtime that is mounted at the path `runtime`.

    `libraries`: additional library folders.
    """
    folders = ":".join([f"{runtime}/{LIBRARIES_FOLDER}", *libraries])
    python = f"{runtime}/bin/{_VERSION}"
    return [
        f"{runtime}/{LOADER_FILE}",
        "--library-path",
        folders,
        python,
        "-I",
        "-S",
        "-B",
        "-u",
        "-X",
        "utf8",
    ]


def copy_libraries(programs: Iterable[Path], directory: Path) -> Path | None:
    """Copy the shared libraries that programs need into a directory.

    Return the path of the programs' dynamic loader, or None if they have none.
    """
    ended = subprocess.run(
        ["ldd", *map(str, programs)], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    directory.mkdir(parents=True, exist_ok=True)
    loader = None
    for found in {one or other for one, other in _RESOLVED.findall(ended.stdout)}:
        library = Path(found)
        if library.name.startswith("ld-"):
            loader = library
        elif not (directory / library.name).exists():
            shutil.copyfile(library, directory / library.name)
    return loader


def _make(directory: Path, stamp: Path) -> None:
    python = Path(interpreter_path())
    standard = Path(sysconfig.get_path("stdlib"))
    (directory / "bin").mkdir(parents=True)
    shutil.copy(python, directory / "bin" / _VERSION)
    shutil.copytree(standard, directory / "lib" / _VERSION, ignore=_WITHOUT)
    extensions = sorted((directory / "lib" / _VERSION).rglob("*.so"))
    loader = (
        copy_libraries([python, *extensions], directory / LIBRARIES_FOLDER) if shutil.which("ldd") else None
    )
    if loader is None:
        shutil.rmtree(directory)
        raise UserError("Agents in containers need a Python for Linux that is linked dynamically, and `ldd`.")
    shutil.copy(loader, stamp)
