"""Real test runners in environments of their own, `.venv-runners` and `.venv-runners_old`, made where missing."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[3]


def environment(name: str) -> Path:
    """The Python of an environment with what `requirements/<name>.txt` lists; skips where it cannot be installed."""
    folder, requirements = ROOT / f".venv-{name}", ROOT / "requirements" / f"{name}.txt"
    python, stamp = folder / "bin" / "python", folder / "installed"
    wanted = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()
    folder.mkdir(exist_ok=True)
    with FileLock(folder / "lock"):
        if stamp.exists() and stamp.read_text() == wanted:
            return python
        stamp.unlink(missing_ok=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        try:
            _call(sys.executable, "-m", "venv", str(folder))
            _call(*pip, "--no-compile", "--require-hashes", "--requirement", str(requirements))
        except (subprocess.SubprocessError, OSError) as error:
            said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
            _give_up(f"the test runners cannot be installed: {said}")
        stamp.write_text(wanted)
    return python


def log_of(python: Path, folder: Path, *arguments: str, variables: Mapping[str, str] | None = None) -> str:
    """What a Python program writes, stdout and stderr as they come; its exit code does not matter."""
    clean = {"PATH": os.environ["PATH"], **(variables or {})}
    ended = subprocess.run(
        [str(python), *arguments],
        cwd=folder,
        env=clean,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
    )
    return ended.stdout.decode("utf-8", "replace")


def _call(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


def _give_up(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
