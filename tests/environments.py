"""Environments of their own for what cannot stand beside the project's requirements: another fastmcp, a proxy, runners.

`.venv-<name>` is made from `requirements/<name>.txt` on first use and kept. Where it cannot be made the test is
skipped, but under CI it fails. Installing takes its time: mark such tests `slow` and give them a longer limit.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[1]


def programs_of(name: str) -> Path:
    """The `bin` folder of the environment; skips or fails the test where there is none."""
    try:
        return installed(name)
    except (subprocess.SubprocessError, OSError) as error:
        said = getattr(error, "stderr", None) or str(error)
        reason = f"the requirements of {name} cannot be installed: {said.strip().splitlines()[-1]}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)


def installed(name: str, requirements: str | None = None, python: str = sys.executable) -> Path:
    """The `bin` folder of `.venv-<name>`; makes it where there is none yet for this Python and these requirements.

    The requirements are those of `requirements/<requirements>.txt`, by default of the same name.

    Raises:
        CalledProcessError, OSError: it cannot be made.
    """
    environment, file = ROOT / f".venv-{name}", ROOT / "requirements" / f"{requirements or name}.txt"
    programs, stamp = environment / "bin", environment / "installed"
    version = subprocess.run([python, "-VV"], check=True, capture_output=True).stdout
    wanted = hashlib.sha256(file.read_bytes() + version).hexdigest()
    environment.mkdir(exist_ok=True)
    with FileLock(environment / "lock"):
        if stamp.exists() and stamp.read_text() == wanted:
            return programs
        stamp.unlink(missing_ok=True)
        run(python, "-m", "venv", str(environment))
        run(str(programs / "python"), str(ROOT / "tests" / "locked_install.py"), str(file))
        stamp.write_text(wanted)
    return programs


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
