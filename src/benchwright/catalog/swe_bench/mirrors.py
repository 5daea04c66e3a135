"""Files of Git repositories at a commit, from local mirrors: the user's mirrors, or clones made on demand."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from collections import defaultdict
from pathlib import Path
from shutil import rmtree, which
from tempfile import mkdtemp

from benchwright.catalog.containers.instances import COMMIT_PATTERN
from benchwright.errors import ExecutionError, UserError
from benchwright.home import repositories_directory
from benchwright.orphans import ORPHANS
from benchwright.secrets import SECRETS
from benchwright.user_paths import expand_user_path

GITHUB_URL = "https://github.com"
CLONE_SECONDS = 3600.0
GIT_SECONDS = 600.0

_REPOSITORY = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*", re.ASCII)

_QUIETLY = (
    *("-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*", "-c", "core.fsmonitor=false"),
    *("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60"),
)
"""Options for all git calls: no hooks, and no ownership checks, since nothing from the repository is run here."""


class RepositoryMirrors:
    """A directory of bare Git repositories.

    A directory that the user names is only read. It contains `<owner>/<name>`, `<owner>__<name>` or `<name>`,
    with or without `.git`. If the user names no directory, each repository is cloned from GitHub once, and
    kept below Benchwright's home directory.

    Raises:
        UserError: If the directory does not exist, or git is missing.
    """

    def __init__(self, directory: str = "") -> None:
        if which("git") is None:
            raise UserError(
                "The repositories of this benchmark are read with git: install it, then run this again."
            )
        self._given = expand_user_path(directory) if directory else None
        if self._given is not None and not self._given.is_dir():
            raise UserError(f"There is no directory {directory} (--option repositories=DIRECTORY).")
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def archive_commit(self, repository: str, commit: str) -> bytes:
        """Return the files of a repository at a commit as a tar.gz, without its history.

        Raises:
            ExecutionError: If the repository cannot be cloned, or has no such commit.
        """
        if not _REPOSITORY.fullmatch(repository) or not COMMIT_PATTERN.fullmatch(commit):
            raise ExecutionError(f"{repository}@{commit} names no repository and commit")
        async with self._turns[repository]:
            place = await self._place(repository)
            if self._given is None and not await _has(place, commit):
                await _git(place, "fetch", "--quiet", "--no-tags", "origin", commit, seconds=CLONE_SECONDS)
        return await _git(place, "archive", "--format=tar.gz", "-1", commit)

    async def _place(self, repository: str) -> Path:
        if self._given is not None:
            return _found(self._given, repository)
        place = repositories_directory() / f"{repository.replace('/', '__')}.git"
        if not place.is_dir():
            await _clone(f"{GITHUB_URL}/{repository}", place)
        return place


def _found(directory: Path, repository: str) -> Path:
    owner, name = repository.split("/")
    for start in (f"{owner}/{name}", f"{owner}__{name}", name):
        for place in (directory / f"{start}.git", directory / start):
            if place.is_dir():
                return place
    raise ExecutionError(f"{directory} holds no mirror of {repository}, such as {owner}/{name}.git")


async def _clone(url: str, place: Path) -> None:
    """Clone into a temporary directory, and move the complete clone to `place`."""
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(mkdtemp(prefix=".cloning-", dir=place.parent))
    try:
        await _git(None, "clone", "--quiet", "--bare", url, str(draft / "new"), seconds=CLONE_SECONDS)
        (draft / "new").rename(place)
    finally:
        rmtree(draft, ignore_errors=True)


async def _has(place: Path, commit: str) -> bool:
    try:
        await _git(place, "cat-file", "-e", f"{commit}^{{commit}}")
    except ExecutionError:
        return False
    return True


async def _git(place: Path | None, *arguments: str, seconds: float = GIT_SECONDS) -> bytes:
    """Run git and return its output. At the time limit or on cancellation, kill git and its child processes."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    process = await asyncio.create_subprocess_exec(
        *("git", *_QUIETLY, *(() if place is None else ("-C", str(place))), *arguments),
        env={**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "file:https"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        with ORPHANS.registered_program(process.pid):
            async with asyncio.timeout(seconds):
                output, errors = await process.communicate()
    except TimeoutError:
        raise ExecutionError(f"git did not end within {seconds:g} s: {' '.join(arguments[:2])}") from None
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode:
        lines = [line for line in errors.decode(errors="replace").splitlines() if line.strip()]
        fatal = (line for line in lines if line.startswith(("fatal:", "error:")))
        said = next(fatal, lines[-1] if lines else f"exit code {process.returncode}")
        raise ExecutionError(f"git failed: {SECRETS.redact(said)}")
    return output
