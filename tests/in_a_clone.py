"""Runs a part of the tests in a clone of this repository's last commit, in an empty folder with nothing beside it.

Called by `make test-all`. What is installed is shared with `.venv`; the project itself is installed from the clone.
The order of the tests is random, as everywhere.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.second_try import run_tests  # noqa: E402 -- found beside this file however it is started

PART = ("tests/catalog", "tests/llm_benchmarker", "tests/osmosis_ai", "tests/reports", "tests/stats")
AT_ONCE = ("-n", "auto", "--maxprocesses", "6", "--dist", "worksteal")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="benchwright-clone-") as folder:
        clone = Path(folder, "benchwright")
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        python = set_up(clone)
        elsewhere = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("BENCHWRIGHT_", "PYTHON"))
        }
        environment = {**elsewhere, "PATH": f"{python.parent}:{os.environ['PATH']}"}
        options = ["-q", *AT_ONCE, "-m", "not slow and not real_server", *PART]
        print("In a clone with nothing beside it: pytest", " ".join(options), flush=True)
        return run_tests(python, options, directory=clone, environment=environment)


def set_up(clone: Path) -> Path:
    """The Python of an environment in the clone, which sees what is installed here."""
    environment = clone / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    libraries = environment / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    (libraries / "shared.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run(
        [*pip, "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--editable", str(clone)],
        check=True,
    )
    return python


if __name__ == "__main__":
    sys.exit(main())
