"""Runs a part of the tests on the newest of the other Pythons that are installed here (3.14, 3.13, 3.12), in a clone of
this repository's last commit in an empty folder with nothing beside it; and those of MCP tools with the versions of
fastmcp that people still have (2, 3).

Called by `make test-all`. Says for each version whether it ran, or why not. Where no other Python is installed, the
clone is tested with this one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.environments import installed  # noqa: E402 -- found beside this file however it is started
from tests.second_try import run_tests  # noqa: E402

PART = (
    *(
        "tests/stats",
        "tests/endpoint",
        "tests/engine",
        "tests/agents",
        "tests/catalog/documented",
        "tests/data",
    ),
    *("tests/llm_benchmarker", "tests/osmosis_ai", "tests/reports", "tests/scorers"),
)
PYTHONS = ("3.14", "3.13", "3.12")
"""The newest stands for those between it and ours."""
FASTMCPS = ("2", "3")
AT_ONCE = ("-n", "auto", "--maxprocesses", "6", "--dist", "worksteal")


def find(version: str) -> str | None:
    """The path of an interpreter, from PATH, pyenv or uv."""
    if found := shutil.which(f"python{version}"):
        probe = subprocess.run([found, "--version"], capture_output=True, check=False)
        if probe.returncode == 0:
            return found
    if shutil.which("pyenv"):
        prefix = subprocess.run(["pyenv", "prefix", version], capture_output=True, text=True, check=False)
        python = Path(prefix.stdout.strip()) / "bin" / "python"
        if prefix.returncode == 0 and python.exists():
            return str(python)
    if uv := shutil.which("uv"):
        command = [uv, "python", "find", "--no-python-downloads", version]
        found_by_uv = subprocess.run(command, capture_output=True, text=True, check=False)
        if found_by_uv.returncode == 0:
            return found_by_uv.stdout.strip()
    return None


@contextmanager
def cloned() -> Iterator[Path]:
    """A clone of the last commit in an empty folder."""
    with tempfile.TemporaryDirectory(prefix="benchwright-clone-") as folder:
        clone = Path(folder, "benchwright")
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        yield clone


def set_up(name: str, interpreter: str, clone: Path) -> Path:
    """The Python of an environment with the clone and its requirements."""
    python = installed(name, "dev", interpreter) / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--editable", str(clone)], check=True)
    return python


def in_the_clone(name: str, interpreter: str, clone: Path) -> bool:
    """Whether a part of the clone's tests passes on this Python."""
    python = set_up(name, interpreter, clone)
    elsewhere = {
        key: value for key, value in os.environ.items() if not key.startswith(("BENCHWRIGHT_", "PYTHON"))
    }
    environment = {**elsewhere, "PATH": f"{python.parent}:{os.environ['PATH']}"}
    options = (*AT_ONCE, "-m", "not slow and not real_server", *PART)
    return passes(f"Python {name}, in a clone", python, options, environment, clone)


def on_another_python(clone: Path) -> bool:
    """Whether the tests pass on the newest of the other Pythons that is installed here."""
    for version in PYTHONS:
        if sys.version.startswith(version):
            continue
        if interpreter := find(version):
            return in_the_clone(version, interpreter, clone)
        print(f"Python {version}: not installed here, not tested")
    return in_the_clone("clone", sys.executable, clone)


def with_fastmcp(version: str) -> bool:
    """Whether the tests of MCP tools pass with this version of fastmcp."""
    python = installed(f"fastmcp{version}") / "python"
    asked = [str(python), "-c", "from importlib.metadata import version; print(version('fastmcp'))"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert found.startswith(f"{version}."), found
    options = ("-m", "not slow", "-p", "no:cacheprovider", "tests/agents/mcp")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return passes(f"fastmcp {version}", python, options, environment)


def passes(
    what: str,
    python: Path,
    options: Sequence[str],
    environment: Mapping[str, str],
    directory: Path = ROOT,
) -> bool:
    """Runs pytest with these options, and says what it is run on."""
    print(f"{what}: pytest -q {' '.join(options)}", flush=True)
    return run_tests(python, ["-q", *options], directory=directory, environment=environment) == 0


def main() -> int:
    with cloned() as clone:
        python = on_another_python(clone)
    return int(not all([python, *(with_fastmcp(version) for version in FASTMCPS)]))


if __name__ == "__main__":
    sys.exit(main())
