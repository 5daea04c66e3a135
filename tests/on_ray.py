"""Runs the tests of runs on Ray, in an environment that has it (`.venv-ray`, made on first use).

Called by `make test-all`. Where Ray cannot be installed it says why, and fails only under CI.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOM = ROOT / "tests" / "engine" / "shards" / "on_ray"
NOT_USED = "/(air|data|llm|pip|rllib|serve|setuptools|train|tune)/"
"""Parts of Ray, and of the environment, that nothing here imports."""


def main() -> int:
    sys.path.insert(0, str(ROOT))
    from tests.environments import installed
    from tests.second_try import run_tests

    try:
        python = installed("ray") / "python"
    except (subprocess.SubprocessError, OSError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
        print(f"Runs on Ray are not tested: Ray cannot be installed: {said}")
        return int(bool(os.environ.get("CI")))
    compile_once(python)
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "disabled",  # else a token is written to the home directory
    }
    options = ["-q", "-p", "no:cacheprovider", "--durations=5", *sys.argv[1:], str(ROOM)]
    print("Runs on Ray: pytest", " ".join(options), flush=True)
    return run_tests(python, options, environment=environment)


def compile_once(python: Path) -> None:
    """Writes the byte code that `pip --no-compile` left out; takes no time when it is there.

    A node of Ray consists of half a dozen Python programs. Those that are not there within 15 s after its start end
    it, and without byte code each of them takes more than twice as long, every time.
    """
    libraries = python.parent.parent / "lib"
    command: list[str | Path] = [python, "-m", "compileall", "-q", "-j", "0", "-x", NOT_USED, libraries]
    subprocess.run(command, check=False, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())
