"""Runs the tests that need no heavy library on the other Pythons that are installed here (3.12, 3.13).

Called by `make test-all`. Says for each version whether it ran, or why not.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.12", "3.13")
AT_ONCE = ("-n", "auto", "--maxprocesses", "4", "--dist", "worksteal")
SUBSET = ("tests/stats", "tests/endpoint", "tests/engine", "tests/data", "tests/scorers", "tests/agents")


def find(version: str) -> str | None:
    """The path of an interpreter, from PATH or from pyenv."""
    if found := shutil.which(f"python{version}"):
        probe = subprocess.run([found, "--version"], capture_output=True, check=False)
        if probe.returncode == 0:
            return found
    if shutil.which("pyenv"):
        prefix = subprocess.run(["pyenv", "prefix", version], capture_output=True, text=True, check=False)
        python = Path(prefix.stdout.strip()) / "bin" / "python"
        if prefix.returncode == 0 and python.exists():
            return str(python)
    return None


def set_up(version: str, interpreter: str) -> Path:
    """The Python of an environment of that version with the project and its requirements."""
    sys.path.insert(0, str(ROOT))
    from tests.environments import installed

    programs = installed(version, "dev", interpreter)
    python = programs / "python"
    if not (programs / "benchwright").exists():
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)], check=True)
    return python


def main() -> int:
    failed = False
    for version in VERSIONS:
        if sys.version.startswith(version):
            continue
        interpreter = find(version)
        if interpreter is None:
            print(f"Python {version}: not installed here, not tested")
            continue
        python = set_up(version, interpreter)
        command = [str(python), "-m", "pytest", "-q", *AT_ONCE, "-m", "not slow and not real_server", *SUBSET]
        print(f"Python {version}: {' '.join(command[1:])}", flush=True)
        failed |= subprocess.run(command, cwd=ROOT, check=False).returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
