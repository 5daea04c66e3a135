"""Findings on programs and libraries: Python and its extras, Node, isolation of model-written code."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires, version

from benchwright import __version__
from benchwright.app.doctor.findings import Finding
from benchwright.errors import UserError

PROGRAM_TIMEOUT = 5.0

USES_BY_EXTRA = {
    "bfcl": "Java and JavaScript in BFCL's prompt mode",
    "bfcl-vector": "memory_vector of bfcl",
    "docker": "benchmarks in containers (terminal_bench, swe_bench and others) and verifiers of packs",
    "hub": "fetching datasets from the hub",
    "parquet": "datasets and exports in Parquet",
    "mcp": "agents whose tools are MCP servers (--mcp)",
    "litellm": "models of providers without an OpenAI-compatible API",
    "ray": "runs on several machines",
    "inspect": "tasks of Inspect (run inspect:TASK)",
    "lm-eval": "tasks of lm-evaluation-harness (run lm-eval:TASK)",
    "ifbench": "instructions of ifbench",
    "math": "answers of math_500",
    "otel": "telemetry (--otel)",
}
"""Mapping from an extra of this package to the features that need it."""

_REQUIREMENT = re.compile(r"""(?P<name>[A-Za-z0-9._-]+).*;.*extra\s*==\s*['"](?P<extra>[^'"]+)""")


def first_output_line(argv: Sequence[str]) -> str | None:
    """Return the first line that a program prints. None if it fails or takes too long."""
    try:
        ended = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROGRAM_TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = ended.stdout.decode("utf-8", "replace").strip().splitlines()
    return lines[0][:200] if lines and ended.returncode == 0 else None


def check_python() -> Iterator[Finding]:
    """Yield a finding with the versions of Python and Benchwright."""
    yield Finding("Python", f"{platform.python_version()} ({sys.executable}), Benchwright {__version__}")


def check_extras() -> Iterator[Finding]:
    """Yield findings on which extras of this package are installed."""
    packages: dict[str, list[str]] = {}
    for requirement in requires("benchwright") or ():
        found = _REQUIREMENT.match(requirement)
        if found and found["extra"] in USES_BY_EXTRA:
            packages.setdefault(found["extra"], []).append(found["name"])
    for extra, names in packages.items():
        subject = f"extra {extra}"
        installed = {name: _version(name) for name in names}
        absent = [name for name, number in installed.items() if number is None]
        if absent:
            said = f"{', '.join(absent)} not installed"
            advice = f"pip install 'benchwright[{extra}]'"
            yield Finding(subject, said, "missing", USES_BY_EXTRA[extra], advice)
        else:
            yield Finding(subject, ", ".join(f"{name} {number}" for name, number in installed.items()))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def check_node() -> Iterator[Finding]:
    """Yield a finding on Node, which packs written in JavaScript need."""
    from benchwright.packs.bridge.commands import MIN_NODE_VERSION

    subject, needed_for = "Node.js", "bench packs written in JavaScript"
    oldest = MIN_NODE_VERSION[0]
    advice = f"Install Node.js {oldest} or newer (Debian and Ubuntu: `apt-get install nodejs`)."
    program = shutil.which("node")
    if program is None:
        yield Finding(subject, "`node` is not on the PATH", "missing", needed_for, advice)
        return
    said = first_output_line([program, "--version"]) or ""
    found = re.match(r"v(\d+)\.(\d+)", said)
    if found is None:
        yield Finding(subject, f"{program} does not report its version", "problem", needed_for, advice)
    elif (int(found[1]), int(found[2])) < MIN_NODE_VERSION:
        yield Finding(subject, f"{said} ({program}) is too old", "problem", needed_for, advice)
    else:
        yield Finding(subject, f"{said} ({program})")


def check_pack_processes() -> Iterator[Finding]:
    """Yield a finding on whether processes of packs are isolated from the user's other processes."""
    from benchwright.python_commands import standard_library_command
    from benchwright.sandbox import layout
    from benchwright.sandbox.supervision import supervision_failure

    code = "import sys; sys.path.insert(0, sys.argv[1]); from inside import apart; print(apart.is_possible())"
    if failure := supervision_failure():
        advice = "Run packs on Linux, for example in a virtual machine."
        yield Finding("pack processes", f"packs cannot run: {failure}", "missing", "bench packs", advice)
        return
    subject, folder = "pack processes", str(layout.INSIDE_FOLDER.parent)
    if first_output_line(standard_library_command(code, folder)) == "True":
        yield Finding(subject, "in user namespaces of their own: other processes are closed to them")
        return
    said = "WEAK: no user namespaces; a pack can read the environment of your other processes, keys included"
    advice = "Allow user namespaces, or run only packs that you trust; see docs/packs.md."
    yield Finding(subject, said, "missing", "isolation of bench packs", advice)


def check_sandbox() -> Iterator[Finding]:
    """Yield a finding on how model-written code is isolated when it runs outside of containers."""
    from benchwright.sandbox import choose_isolation_method
    from benchwright.sandbox.supervision import supervision_failure

    needed_for = (
        "benchmarks that run model-written code (humaneval, livecodebench, bfcl) and agents' programs"
    )
    if failure := supervision_failure():
        advice = "Run these benchmarks on Linux, for example in a virtual machine."
        yield Finding("sandbox", f"no sandbox works here: {failure}", "missing", needed_for, advice)
        return
    try:
        chosen = choose_isolation_method()
    except UserError as error:
        advice = "Install bubblewrap (Debian and Ubuntu: `apt-get install bubblewrap`)."
        yield Finding("sandbox", str(error), "problem", needed_for, advice)
        return
    if chosen.name != "limits":
        yield Finding("sandbox", chosen.description)
        return
    advice = "Install bubblewrap, or allow user namespaces; see docs/sandbox.md."
    yield Finding("sandbox", chosen.description, "missing", "isolation of model-written code", advice)
