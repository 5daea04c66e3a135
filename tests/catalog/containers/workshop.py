"""A stand-in for images that programs are developed in: bash, git, patch, Python and pytest, from this very machine.

The shell and `timeout` are this machine's too: busybox's own prefer its patch to any other. The image's tag names what
it is made of, so that another Python's image is not taken for this one's.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from importlib.metadata import distribution, version
from io import BytesIO
from itertools import chain
from pathlib import Path
from shutil import which

import pytest
from tests.sandbox.docker.stand_ins import docker, make_busybox

PROGRAMS = ("bash", "git", "patch", "timeout")
DISTRIBUTIONS = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
LEFT_OUT = frozenset({"test", "site-packages", "__pycache__", "ensurepip", "idlelib", "lib2to3", "tkinter"})


def _name() -> str:
    parts = [Path(__file__).read_text(), sys.version, sys.base_prefix, *map(version, DISTRIBUTIONS)]
    return f"benchwright-stand-in/workshop:{hashlib.sha256(repr(parts).encode()).hexdigest()[:12]}"


WORKSHOP = _name()


def make_workshop() -> None:
    """Makes the image where it is not there yet: some 60 MB, on top of busybox."""
    if docker("images", "--quiet", WORKSHOP):
        return
    make_busybox()
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        dockerfile = (
            b'FROM benchwright-stand-in/busybox:1\nADD files.tar /\nENV PATH=/bin HOME=/root\nCMD ["bash"]\n'
        )
        add_file(archive, "Dockerfile", dockerfile)
        add_file(archive, "files.tar", _files())
    docker("build", "--tag", WORKSHOP, "-", stdin=packed.getvalue())


def tag_workshop(tag: str) -> bool:
    """Gives the image a further name that an image pulled from a registry would have; False where that is taken."""
    make_workshop()
    if docker("images", "--quiet", tag):
        return False
    docker("tag", WORKSHOP, tag)
    return True


def _files() -> bytes:
    python = Path(
        sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"
    ).resolve()
    library = Path(sys.base_prefix, "lib", python.name)
    programs = {name: Path(found).resolve() for name in PROGRAMS if (found := which(name))}
    if missing := [name for name in PROGRAMS if name not in programs]:
        give_up = pytest.fail if os.environ.get("CI") else pytest.skip
        give_up(f"the stand-in image is made of this machine's own programs, and there is no {missing[0]}")
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, path in programs.items():
            archive.add(path, f"bin/{name}")
        archive.add(python, str(python))
        for library_file in shared_libraries([*programs.values(), python, *library.glob("lib-dynload/*.so")]):
            archive.add(Path(library_file).resolve(), library_file)
        archive.add(library, str(library), filter=_kept)
        for file in chain.from_iterable(distribution(name).files or () for name in DISTRIBUTIONS):
            if not LEFT_OUT.intersection(file.parts) and ".." not in file.parts:
                # Beside the standard library: where else packages are looked for differs from Python to Python.
                archive.add(Path(str(file.locate())), f"{library}/{file}")
        for link, goal in (("python", str(python)), ("python3", str(python)), ("sh", "bash")):
            entry = tarfile.TarInfo(f"bin/{link}")
            entry.type, entry.linkname = tarfile.SYMTYPE, goal
            archive.addfile(entry)
    return packed.getvalue()


def _kept(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    name = Path(entry.name).name
    return None if name in LEFT_OUT or name.startswith("config-") else entry


def shared_libraries(programs: list[Path]) -> Iterator[str]:
    """Yield the shared libraries that programs need, the loader too."""
    ended = subprocess.run(["ldd", *map(str, programs)], capture_output=True, text=True, check=False)
    yield from sorted(set(re.findall(r"(/\S+\.so\S*) \(0x", ended.stdout)))


def add_file(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    """Add a file with this content to an archive."""
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, BytesIO(content))


@pytest.fixture(scope="session")
def workshop(running_engine: None) -> str:
    """The image's name."""
    make_workshop()
    return WORKSHOP
