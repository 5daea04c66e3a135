"""A store that an earlier version wrote: its archive, unpacked into a directory of a test."""

from __future__ import annotations

import json
import socket
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from filelock import FileLock
from tests.app.app_kit import Program
from tests.runs.old_stores.make_archive import AGENT_EVALUATION, EVALUATION, FOLDER, HOST, PORT, SERVER

ARCHIVES = {path.name.partition(".")[0]: path for path in Path(__file__).parent.glob("old_stores/*.tar.gz")}
"""The archives, by the commit whose code wrote them."""

NEAREST = "d053297"
"""The version whose store is read in every run of the tests; the others are read in the slow ones."""

SERVER_LOCK = Path(tempfile.gettempdir(), "benchwright-old-stores.lock")
"""Lock file of the server's address, which is the same for all stores."""


def commits_with(pattern: str = "shown.json") -> list[ParameterSet]:
    """Return the versions whose archive has a file of this pattern, to parametrize a test."""
    return [
        pytest.param(commit, marks=() if commit == NEAREST else pytest.mark.slow)
        for commit, path in sorted(ARCHIVES.items())
        if any(fnmatch(name, pattern) for name in names_in(path))
    ]


@cache
def names_in(archive: Path) -> list[str]:
    """Return the names of the files in an archive."""
    with tarfile.open(archive) as files:
        return files.getnames()


class OldStore(Program):
    """The program over an old store, in the directory where the store was written."""

    def __init__(self, directory: Path, commit: str) -> None:
        super().__init__(directory)
        self.commit = commit
        with tarfile.open(ARCHIVES[commit]) as archive:
            archive.extractall(directory, filter="data")
        self.environment["OPENAI_API_KEY"] = "key-of-no-provider"
        for path in self.home.glob("**/*.json"):
            path.write_text(path.read_text().replace(str(FOLDER), str(directory)))
        shown = json.loads((directory / "shown.json").read_text())
        self.shown: dict[str, dict[str, Any]] = shown["show"]
        """What the old version's `show --json` printed of each run, by its id, the oldest first."""

    @property
    def evaluation(self) -> str:
        """The id of the evaluation of two models by a scorer."""
        return next(iter(self.shown))

    @property
    def unfinished(self) -> str:
        """The id of the run that was killed."""
        return list(self.shown)[-1]

    def named(self, part: str) -> str:
        """The id of the first run with this part in its name."""
        return next(run for run in self.shown if f"-{part}-" in run)

    def file(self, pattern: str) -> str:
        """The path of a file or folder that the old version wrote."""
        return str(next(self.directory.glob(pattern)).relative_to(self.directory))

    def done(self, *arguments: str) -> str:
        """Runs a command that must end well, and returns what it prints."""
        ended = self.run(*arguments)
        assert ended.returncode == 0, (arguments, ended.stderr)
        return ended.stdout

    def json(self, *arguments: str) -> Any:
        """Runs a command with `--json` that must end well, and reads what it prints."""
        return json.loads(self.done(*arguments, "--json"))

    @contextmanager
    def serving(self) -> Iterator[None]:
        """The simulated server at the address that the old runs had."""
        with FileLock(SERVER_LOCK):
            server = self.start("simulate", "--host", HOST, "--port", str(PORT), "--answers", "key.jsonl")
            try:
                _wait_for(server)
                yield
            finally:
                server.terminate()
                server.communicate(timeout=30)


def _wait_for(server: subprocess.Popen[str]) -> None:
    while True:
        try:
            return socket.create_connection((HOST, PORT), timeout=1).close()
        except OSError:
            if server.poll() is not None:
                pytest.skip(f"nothing can be served at {HOST}:{PORT}: {server.communicate()[1]}")
            time.sleep(0.02)


__all__ = ["AGENT_EVALUATION", "ARCHIVES", "EVALUATION", "SERVER", "OldStore"]
