"""Runs the tests that need no heavy library on the other Pythons that are installed here (3.12, 3.13), and those of
MCP tools with the versions of fastmcp that people still have (2, 3).

Called by `make test-all`. Says for each version whether it ran, or why not.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.environments import installed  # noqa: E402 -- found beside this file however it is started
from tests.second_try import run_tests  # noqa: E402

PYTHONS = ("3.12", "3.13")
FASTMCPS = ("2", "3")
AT_ONCE = ("-n", "auto", "--maxprocesses", "6", "--dist", "worksteal")
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
    programs = installed(version, "dev", interpreter)
    python = programs / "python"
    if not (programs / "benchwright").exists():
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)], check=True)
    return python


def on_python(version: str) -> bool:
    """Whether the tests pass on this Python, or it is not installed here."""
    interpreter = find(version)
    if interpreter is None:
        print(f"Python {version}: not installed here, not tested")
        return True
    python = set_up(version, interpreter)
    options = (*AT_ONCE, "-m", "not slow and not real_server", *SUBSET)
    return passes(f"Python {version}", python, options)


def with_fastmcp(version: str) -> bool:
    """Whether the tests of MCP tools pass with this version of fastmcp."""
    python = installed(f"fastmcp{version}") / "python"
    asked = [str(python), "-c", "from importlib.metadata import version; print(version('fastmcp'))"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert found.startswith(f"{version}."), found
    options = ("-m", "not slow", "-p", "no:cacheprovider", "tests/agents/mcp")
    return passes(f"fastmcp {version}", python, options, PYTHONPATH=str(ROOT / "src"))


def passes(what: str, python: Path, options: Sequence[str], **environment: str) -> bool:
    """Runs pytest with these options, and says what it is run on."""
    print(f"{what}: pytest -q {' '.join(options)}", flush=True)
    return run_tests(python, ["-q", *options], environment={**os.environ, **environment}) == 0


def main() -> int:
    pythons = [on_python(version) for version in PYTHONS if not sys.version.startswith(version)]
    return int(not all([*pythons, *(with_fastmcp(version) for version in FASTMCPS)]))


if __name__ == "__main__":
    sys.exit(main())
