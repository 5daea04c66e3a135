"""Images that stand in for the official ones of made-up instances: the stand-in workshop with a repository in /testbed.

`/opt/miniconda3/bin/activate` is there and does nothing. There is no pip: the eval script's installation fails and the
script goes on, as it does officially.
"""

from __future__ import annotations

import sys
import tarfile
from io import BytesIO
from pathlib import Path

from tests.catalog.containers.workshop import WORKSHOP, make_workshop
from tests.environments import programs_of
from tests.sandbox.docker.stand_ins import docker

DJANGO = ("django", "asgiref", "sqlparse")
LEFT_OUT = frozenset({".mo", ".po", ".pyc", ".js", ".css"})
PYTEST_ONCE = "cd /root && echo 'def test_it(): pass' >test_it.py && pytest -q test_it.py && rm test_it.py"
DJANGO_ONCE = "python -c 'import django.test.runner, django.db.backends.sqlite3.base, django.contrib.auth'"
"""What the tests import is compiled once, in the image."""
FILES = {
    "opt/miniconda3/bin/activate": "conda() { :; }\n",
    "bin/pytest": '#!/bin/sh\nexec python -m pytest "$@"\n',
    "usr/bin/env": '#!/bin/sh\nexec /bin/env "$@"\n',
}


def make_instance(tag: str, repository: Path, *, django: bool) -> None:
    """An image with this repository in `/testbed`, and Django where its tests need it."""
    make_workshop()
    files, context = BytesIO(), BytesIO()
    with tarfile.open(fileobj=files, mode="w") as archive:
        for name, text in FILES.items():
            _add(archive, name, text.encode())
        archive.add(repository, "testbed", filter=_as_root)
        for package in DJANGO if django else ():
            archive.add(_installed() / package, f"{_library()}/{package}", filter=_as_root)
    with tarfile.open(fileobj=context, mode="w") as archive:
        once = DJANGO_ONCE if django else PYTEST_ONCE
        dockerfile = f"FROM {WORKSHOP}\nADD files.tar /\nRUN {once}\nWORKDIR /testbed\n"
        _add(archive, "Dockerfile", dockerfile.encode())
        _add(archive, "files.tar", files.getvalue())
    docker("build", "--network", "none", "--tag", tag, "-", stdin=context.getvalue())


def _installed() -> Path:
    return next(programs_of("runners").parent.glob("lib/python3*/site-packages"))


def _library() -> Path:
    """The standard library of the workshop's Python, beside which its packages lie."""
    return Path(sys.base_prefix, "lib", f"python{sys.version_info.major}.{sys.version_info.minor}")


def _as_root(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if Path(entry.name).suffix in LEFT_OUT:
        return None
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    return entry


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o755
    archive.addfile(entry, BytesIO(content))
