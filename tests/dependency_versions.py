"""Both ends of every dependency: the newest versions in the index, and the lowest that pyproject.toml allows.

    python tests/dependency_versions.py latest           # each extra by itself, then all together
    python tests/dependency_versions.py lowest mcp hub   # only these extras
    python tests/dependency_versions.py --turn           # one extra at one end, another for each commit

uv resolves without a lock into an environment in build/dependencies/. There every module is imported before anything
else is installed, so that nothing is imported that is not declared; then the tests of the extra run. What was
installed and tested is written to build/dependencies/LATEST-OR-LOWEST.json and printed.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.environments import installed  # noqa: E402 -- found beside this file however it is started

FOLDER = ROOT / "build" / "dependencies"
RESOLUTIONS = {"latest": "highest", "lowest": "lowest-direct"}
NONE = "none"
FOREIGN_TASKS = ("tests/app/test_foreign_tasks.py", "-k", "not program_that_is_not_there")
TESTS: dict[str, tuple[str, ...]] = {
    NONE: ("tests/stats", "tests/engine", "tests/scorers"),
    "bfcl": ("tests/catalog/bfcl",),
    "bfcl-vector": ("tests/catalog/bfcl/test_bfcl_vector.py",),
    "ifbench": ("tests/catalog/ifbench",),
    "math": ("tests/catalog/test_math_500.py",),
    "parquet": ("tests/data/test_rows.py", "tests/data/test_parquet_memory.py"),
    "hub": ("tests/data/test_fetch_from_hub.py", "tests/data/test_source.py"),
    "docker": ("tests/sandbox/docker",),
    "mcp": ("tests/agents/mcp",),
    "litellm": ("tests/agents/runners/test_lite_llm.py",),
    "ray": ("tests/engine/shards/on_ray",),
    "inspect": FOREIGN_TASKS,
    "lm-eval": FOREIGN_TASKS,
    "otel": ("tests/app/test_telemetry.py",),
    "all": ("tests/agents", "tests/data", "tests/llm_benchmarker", "tests/osmosis_ai", "tests/api"),
}
"""The tests that need each extra; `none`: the package without extras."""

TOOLS = ("hypothesis", "pytest", "pytest-asyncio", "pytest-randomly", "pytest-timeout", "pytest-xdist")
"""Tools of the tests, in the versions of requirements/dev.txt."""

LIBRARIES = ("scipy",)
"""Libraries that only tests use, in any version that goes with the others."""

NOT_INSTALLED = ("faiss-cpu",)
"""Packages that make an environment of several GB: their extra is resolved, and not installed."""

SELECTION = "not (slow or real_server or field)"


class Result(NamedTuple):
    """What came of one extra at one end.

    `versions`: the version of each declared package. `tests`: pytest's summary.
    """

    extra: str
    versions: dict[str, str]
    tests: str
    passed: bool


def main() -> int:
    """Try the extras that the arguments name; return 1 if one fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("end", nargs="?", choices=RESOLUTIONS)
    parser.add_argument("extras", nargs="*", metavar="EXTRA", help="such as hub (default: all)")
    parser.add_argument("--turn", action="store_true", help="the extra and the end whose turn this commit is")
    options = parser.parse_args()
    if options.turn:
        end, extras = turn(head())
    else:
        end, extras = options.end or "latest", options.extras or list(TESTS)
    results = [try_extra(end, extra) for extra in extras]
    FOLDER.mkdir(parents=True, exist_ok=True)
    report = FOLDER / f"{end}.json"
    report.write_text(json.dumps([one._asdict() for one in results], indent=1), encoding="utf-8")
    for one in results:
        versions = ", ".join(f"{name} {version}" for name, version in one.versions.items())
        print(f"{'ok' if one.passed else 'FAILED'}: {end} {one.extra}: {one.tests} ({versions})", flush=True)
    return int(not all(one.passed for one in results))


def turn(commit: str) -> tuple[str, list[str]]:
    """Return the end and the extra that a commit tries: as good as chosen at random, the same each time."""
    choices = [(end, extra) for end in RESOLUTIONS for extra in TESTS]
    end, extra = choices[int(commit, 16) % len(choices)]
    return end, [extra]


def head() -> str:
    """Return the digest of the last commit."""
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def try_extra(end: str, extra: str) -> Result:
    """Install an extra at one end, import every module, and run its tests."""
    print(f"{end} {extra}: installing", flush=True)
    place = FOLDER / f"{end}-{extra}"
    python = place / "bin" / "python"
    uv = str(installed("uv") / "uv")
    target = "." if extra == NONE else f".[{extra}]"
    if set(requirement_names(extra)) & set(NOT_INSTALLED):
        ended = run([uv, "pip", "compile", "--quiet", *resolution(end), "--extra", extra, "pyproject.toml"])
        return Result(extra, chosen(ended.stdout, extra), "resolved, not installed", ended.returncode == 0)
    shutil.rmtree(place, ignore_errors=True)
    steps = [
        [uv, "venv", "--quiet", "--python", sys.executable, str(place)],
        [uv, "pip", "install", "--quiet", *resolution(end), "--python", str(python), target],
        [str(python), "tests/every_module.py"],
    ]
    for step in steps:
        if (ended := run(step)).returncode:
            return Result(extra, {}, (ended.stdout + ended.stderr).strip()[-2000:], False)
    before = run([uv, "pip", "freeze", "--python", str(python)]).stdout
    versions = chosen(before, extra)
    if (ended := install_tools(uv, python, before)).returncode:
        return Result(extra, versions, ended.stderr.strip()[-2000:], False)
    tested = run_tests(python, extra)
    if tested.returncode:
        print((tested.stdout + tested.stderr)[-8000:], flush=True)
    summary = (tested.stdout.strip() or "no tests ran").splitlines()[-1]
    return Result(extra, versions, summary, tested.returncode == 0)


def resolution(end: str) -> tuple[str, ...]:
    """Return uv's options for one end of the allowed versions."""
    return ("--resolution", RESOLUTIONS[end])


def requirement_names(extra: str) -> list[str]:
    """Return the names of the packages that the package itself (`none`), an extra, or all extras declare."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras: dict[str, Any] = project["optional-dependencies"]
    if extra == "all":
        (line,) = extras["all"]
        return [
            name for one in re.findall(r"[\w-]+", line.partition("[")[2]) for name in requirement_names(one)
        ]
    lines = project["dependencies"] if extra == NONE else extras[extra]
    return [re.match(r"[\w.-]+", line)[0].lower() for line in lines]  # type: ignore[index]


def chosen(frozen: str, extra: str) -> dict[str, str]:
    """Return the versions of the declared packages among the lines `name==version`."""
    found = dict(re.findall(r"^([\w.-]+)==(\S+)", frozen, re.M))
    return {name: found.get(name, "not installed") for name in requirement_names(extra)}


def install_tools(uv: str, python: Path, before: str) -> subprocess.CompletedProcess[str]:
    """Install the tools of the tests without a change to any package that is there."""
    locked = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    there = {line.partition("==")[0] for line in before.splitlines()}
    tools = [tool for tool in TOOLS if tool not in there]
    pins = re.findall(rf"^(?:{'|'.join(tools)})==[^\\\n]+", locked, re.M)
    kept = FOLDER / f"{python.parents[1].name}.txt"
    lines = [line for line in before.splitlines() if "==" in line]
    kept.write_text("".join(f"{line}\n" for line in [*lines, *pins]), encoding="utf-8")
    command = [uv, "pip", "install", "--quiet", "--python", str(python), "--constraint", str(kept)]
    return run([*command, *tools, *LIBRARIES])


def run_tests(python: Path, extra: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of an extra."""
    command = [
        *(str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", "--tb=short"),
        *("-m", SELECTION if extra != "ray" else "", *TESTS[extra]),
    ]
    print(f"{extra}: pytest {' '.join(command[3:])}", flush=True)
    return run(command)


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command in the root of the project, with its output as text."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


if __name__ == "__main__":
    sys.exit(main())
