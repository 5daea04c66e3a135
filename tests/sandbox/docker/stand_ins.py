"""The engine for tests, and images made on this machine that stand in for those of a registry.

`busybox` is one static program under some 300 names: a shell, an HTTP server, `tar`, `timeout`. Nothing is pulled.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import IO

import pytest
from filelock import FileLock

IMAGE = "benchwright-stand-in/busybox:1"
START_SECONDS = 60.0
SHARED = Path(tempfile.gettempdir(), "benchwright-test-engine")
"""What belongs to the engine that the test processes of this machine share, where none runs."""


def docker(*arguments: str, stdin: bytes | None = None) -> str:
    """What the `docker` program prints; where it fails, the test fails with its last words."""
    ended = subprocess.run(["docker", *arguments], input=stdin, capture_output=True, check=False)
    if ended.returncode != 0:
        said = (ended.stdout + ended.stderr).decode(errors="replace")[-2000:]
        raise AssertionError(f"docker {' '.join(arguments)} ended with {ended.returncode}: {said}")
    return ended.stdout.decode().strip()


def answers() -> bool:
    """Whether an engine answers."""
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "info"], capture_output=True, timeout=60).returncode == 0


@contextmanager
def engine_running() -> Iterator[None]:
    """An engine that answers: the one that runs, or, where root may start it, one that all test processes share.

    Never two at once: the second takes the network of the first away. Whoever uses the shared one holds a lock
    together with the others; the one who gets it alone is the last, and ends the engine.
    """
    if answers():
        yield
        return
    if os.geteuid() != 0 or shutil.which("dockerd") is None or shutil.which("docker") is None:
        _give_up("no container engine answers (Debian and Ubuntu: apt-get install docker.io; start dockerd)")
    SHARED.mkdir(mode=0o700, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch, (SHARED / "users").open("w") as users:
        patch.setenv("DOCKER_HOST", f"unix://{SHARED}/docker.sock")
        with FileLock(SHARED / "lock"):
            fcntl.flock(users, fcntl.LOCK_SH)
            if not answers():
                _start_engine()
        try:
            yield
        finally:
            with FileLock(SHARED / "lock"):
                _end_engine_after_the_last(users)


def _start_engine() -> None:
    arguments = [f"--host=unix://{SHARED}/docker.sock", f"--pidfile={SHARED}/pid"]
    places = [f"--data-root={SHARED}/data", f"--exec-root={SHARED}/exec"]
    with (SHARED / "log").open("wb") as log:
        output = [(os.POSIX_SPAWN_DUP2, log.fileno(), number) for number in (1, 2)]
        process = os.posix_spawnp(
            "dockerd", ["dockerd", *arguments, *places], os.environ, file_actions=output, setsid=True
        )
    deadline = time.monotonic() + START_SECONDS
    while not answers():
        if os.waitpid(process, os.WNOHANG)[0] or time.monotonic() > deadline:
            _give_up(f"dockerd did not start: {(SHARED / 'log').read_text(errors='replace')[-500:]}")
        time.sleep(0.2)


def _end_engine_after_the_last(users: IO[str]) -> None:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    pid = SHARED / "pid"
    if pid.exists():
        with suppress(ProcessLookupError):
            os.kill(int(pid.read_text()), signal.SIGTERM)
        deadline = time.monotonic() + START_SECONDS
        while pid.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
    shutil.rmtree(SHARED / "data", ignore_errors=True)


def _give_up(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"{reason} (.ci/run does so)")
    pytest.skip(reason)


def make_busybox(tag: str = IMAGE) -> None:
    """Makes the stand-in image where it is not there yet."""
    if docker("images", "--quiet", tag):
        return
    program = shutil.which("busybox")
    if program is None:
        _give_up("the stand-in image is made of busybox (Debian and Ubuntu: apt-get install busybox-static)")
    assert program is not None
    names = subprocess.run([program, "--list"], capture_output=True, check=True, text=True).stdout.split()
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(program, "bin/busybox")
        for name in names:
            if name != "busybox":
                entry = tarfile.TarInfo(f"bin/{name}")
                entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
                archive.addfile(entry)
        for folder, mode in (("tmp", 0o1777), ("root", 0o700), ("etc", 0o755), ("www", 0o755)):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            archive.addfile(entry)
        users = b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"
        entry = tarfile.TarInfo("etc/passwd")
        entry.size = len(users)
        archive.addfile(entry, BytesIO(users))
    docker("import", "--change", "ENV PATH=/bin", "-", tag, stdin=packed.getvalue())


def containers(label: str) -> list[str]:
    """The names of all containers, running or not, with a label."""
    return docker("ps", "--all", "--filter", f"label={label}", "--format", "{{.Names}}").split()


def soon(holds: Callable[[], bool]) -> bool:
    """Whether it holds within a while: what another test is removing at this moment is left to it."""
    deadline = time.monotonic() + 20
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.1)
    return holds()
