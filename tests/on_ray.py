"""Runs the tests of runs on Ray, in an environment that has it (`.venv-ray`, made on first use).

Called by `make test-ray`: Ray takes long to start, and on small machines does not always.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOM = ROOT / "tests" / "engine" / "shards" / "on_ray"


def main() -> int:
    sys.path.insert(0, str(ROOT))
    from tests.environments import installed

    try:
        python = installed("ray") / "python"
    except (subprocess.SubprocessError, OSError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
        print(f"Runs on Ray are not tested: Ray cannot be installed: {said}")
        return int(bool(os.environ.get("CI")))
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "RAY_USAGE_STATS_ENABLED": "0"}
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(ROOM)]
    print("Runs on Ray:", " ".join(map(str, command[1:])), flush=True)
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
