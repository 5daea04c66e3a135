"""A base for the project's Dockerfile, made of this machine's own files, and the images that are built on it.

The Dockerfile's own base comes from a registry of images, which a machine that tests may not reach. The stand-in has
what the Dockerfile needs: a shell, Python with pip, bubblewrap, certificates. So apt-get is not tried; pip is.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from shutil import which

import pytest
from tests.catalog.containers.workshop import add_file, shared_libraries
from tests.environments import ROOT
from tests.sandbox.docker.stand_ins import IMAGE, docker, make_busybox

VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
LEFT_OUT = frozenset({"test", "site-packages", "__pycache__", "idlelib", "lib2to3", "tkinter"})
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
LIBRARIES = Path(f"/usr/lib/{os.uname().machine}-linux-gnu")
FOR_PACKAGES = (
    *("libstdc++.so.6", "libgcc_s.so.1", "libgomp.so.1"),
    *("libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1", "libresolv.so.2"),
)
"""What compiled packages need beside what Python needs: C++, and the parts that the C library had once."""


def base_name() -> str:
    """Return the name of the stand-in for the Dockerfile's base, which changes with what it is made of."""
    made_of = [Path(__file__).read_text(), sys.version, sys.base_prefix]
    return f"benchwright-stand-in/python:{hashlib.sha256(repr(made_of).encode()).hexdigest()[:12]}"


def make_base() -> str:
    """Make the stand-in if it is not there yet, some 90 MB; return its name."""
    name = base_name()
    if docker("images", "--quiet", name):
        return name
    make_busybox()
    packed = BytesIO()
    settings = [
        "PATH=/usr/local/bin:/usr/bin:/bin",
        f"SSL_CERT_FILE={CERTIFICATES}",
        f"PIP_CERT={CERTIFICATES}",
    ]
    with tarfile.open(fileobj=packed, mode="w") as archive:
        dockerfile = f"FROM {IMAGE}\nADD files.tar /\nENV {' '.join(settings)}\n"
        add_file(archive, "Dockerfile", dockerfile.encode())
        add_file(archive, "files.tar", files())
    docker("build", "--tag", name, "-", stdin=packed.getvalue())
    return name


def files() -> bytes:
    """Return an archive with Python at /usr/local, bubblewrap, their libraries and certificates."""
    bwrap = which("bwrap")
    wanted = [CERTIFICATES, *(LIBRARIES / name for name in FOR_PACKAGES)]
    if missing := [str(path) for path in wanted if not path.exists()] + (["bwrap"] if bwrap is None else []):
        give_up(f"the stand-in image is made of this machine's own files, and there is no {missing[0]}")
    python = Path(sys.base_prefix, "bin", VERSION).resolve()
    library = Path(sys.base_prefix, "lib", VERSION)
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(python, f"usr/local/bin/{VERSION}")
        archive.add(library, f"usr/local/lib/{VERSION}", filter=kept)
        archive.add(str(bwrap), "usr/bin/bwrap")
        archive.add(CERTIFICATES.resolve(), str(CERTIFICATES))
        compiled = [python, Path(str(bwrap)), *library.glob("lib-dynload/*.so")]
        needed = {*shared_libraries(compiled), *(str(LIBRARIES / name) for name in FOR_PACKAGES)}
        for path in sorted(needed):
            # A Python that was compiled here has its own library beside it.
            place = path if path.startswith(("/lib", "/usr/lib")) else str(LIBRARIES / Path(path).name)
            archive.add(Path(path).resolve(), place)
        for link in ("python", "python3"):
            entry = tarfile.TarInfo(f"usr/local/bin/{link}")
            entry.type, entry.linkname = tarfile.SYMTYPE, VERSION
            archive.addfile(entry)
    return packed.getvalue()


def kept(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Return the entry unless it is left out of the standard library."""
    name = Path(entry.name).name
    return None if name in LEFT_OUT or name.startswith("config-") else entry


def build_image(target: str) -> str:
    """Build a stage of the project's Dockerfile on the stand-in; return the image's name."""
    name = f"benchwright-test/{target}:{base_name().rpartition(':')[2]}"
    ended = subprocess.run(
        [
            "docker",
            "build",
            "--quiet",
            "--build-arg",
            f"BASE={make_base()}",
            "--target",
            target,
            "--tag",
            name,
            ".",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if ended.returncode:
        give_up(
            f"the image {target} cannot be built here: {(ended.stdout + ended.stderr).strip().splitlines()[-1]}"
        )
    return name


def give_up(reason: str) -> None:
    """Skip the test with a reason; fail it in CI."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
