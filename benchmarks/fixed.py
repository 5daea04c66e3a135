"""What a command costs before it has done anything: imports, start and end; and what an installation takes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.children import run, simulated
from benchmarks.clients import Load, floor, ours
from benchmarks.measured import Measured

ROOT = Path(__file__).parents[1]
INSTALLING_SECONDS = 600


def fixed_costs(rounds: int) -> list[Measured]:
    """CPU of `--help`, `list` and a whole small run; the floor is an interpreter that does nothing."""
    commands = {"--help": ["-m", "benchwright", "--help"], "list": ["-m", "benchwright", "list"]}
    nothing: list[float] = []
    costs: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(4 * rounds):
        nothing.append(run(["-c", "pass"]).cpu)
        for name, arguments in commands.items():
            costs[name].append(run(arguments).cpu)
    least = median(nothing)
    return [Measured(f"CPU of {name}", "s", median(cpu), least, goal=0.12) for name, cpu in costs.items()]


def small_run(rounds: int) -> list[Measured]:
    """CPU of a whole run of 64 trials, start and end included."""
    with simulated() as endpoint:
        load = Load(endpoint.base_url, 64, 64, stream=True)
        pairs = [(floor(load).cost.cpu, ours(load).cost.cpu) for _ in range(2 * rounds)]
    least, own = (median(cpu) for cpu in zip(*pairs, strict=True))
    return [Measured("CPU of a run of 64 trials", "s", own, least, goal=0.5)]


def installation() -> list[Measured]:
    """The size of the core with its dependencies, installed without a compiler; nothing where it cannot be."""
    with tempfile.TemporaryDirectory() as directory:
        environment = Path(directory, "venv")
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(environment / "bin" / "python"),
            "install",
            "--quiet",
        ]
        no_compiler = {**os.environ, "CC": "false", "CXX": "false"}
        try:
            subprocess.run(
                [sys.executable, "-m", "venv", "--without-pip", str(environment)],
                check=True,
                capture_output=True,
            )
            subprocess.run(
                [*pip, str(ROOT)],
                check=True,
                capture_output=True,
                env=no_compiler,
                timeout=INSTALLING_SECONDS,
            )
        except subprocess.SubprocessError as error:
            said = (getattr(error, "stderr", None) or str(error).encode()).decode().strip().splitlines()[-1]
            print(f"The core cannot be installed, so its size is not measured: {said}", file=sys.stderr)
            return []
        size = size_of(next(environment.glob("lib/python*/site-packages")))
    return [Measured("Installed core with dependencies", "MB", size, goal=150)]


def size_of(packages: Path) -> float:
    """The size of all files in a folder, byte code included, in MB; how they fill blocks is the file system's."""
    return (
        sum(path.stat().st_size for path in packages.rglob("*") if path.is_file() and not path.is_symlink())
        / 1e6
    )
