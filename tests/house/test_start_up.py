"""Start-up: `benchwright --help` is quick because it imports next to nothing, and it shows everything."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from benchwright.cli.main import COMMANDS

HEAVY = {
    *("numpy", "scipy", "pyarrow", "pandas", "datasets"),
    *("pydantic", "pydantic_core", "msgspec", "rich", "jinja2", "langdetect", "dotenv", "filelock"),
    *("asyncio", "ssl", "socket", "httptools", "uvloop", "aiohttp", "httpx", "requests", "urllib"),
    *("aiodocker", "openai", "litellm", "fastmcp", "ray", "docker", "huggingface_hub"),
    *("multiprocessing", "concurrent", "subprocess", "logging", "email", "json", "sqlite3"),
    *("osmosis_ai", "llm_benchmarker"),
}
OURS = {
    "benchwright",
    "benchwright.cli",
    "benchwright.cli.command_help",
    "benchwright.cli.main",
    "benchwright.cli.start",
    "benchwright.errors",
    "benchwright.suggestions",
}
CPU_SECONDS = 0.12


def benchwright(*arguments: str, python: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *python, "-m", "benchwright", *arguments], capture_output=True, text=True, check=True
    )


def modules_of(*arguments: str) -> set[str]:
    """The modules that a command imports, the interpreter's own start-up left out."""

    def imported(stderr: str) -> set[str]:
        return {line.rpartition("|")[2].strip() for line in stderr.splitlines() if "import time:" in line}

    plain = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", ""], capture_output=True, text=True, check=True
    )
    return imported(benchwright(*arguments, python=("-X", "importtime")).stderr) - imported(plain.stderr)


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_imports_nothing_heavy(argument: str) -> None:
    modules = modules_of(argument)
    assert {module for module in modules if module.split(".")[0] in HEAVY} == set()
    assert {module for module in modules if module.split(".")[0] == "benchwright"} <= OURS


def test_help_takes_at_most_so_much_cpu() -> None:
    """The least of five: what others do on the machine only adds to it."""

    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        benchwright("--help")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(5)) <= CPU_SECONDS


def test_help_lists_every_command_with_what_it_does_and_examples() -> None:
    text = benchwright("--help").stdout
    for name, (_, what) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(what)}", text, re.MULTILINE), name
    assert "Examples:" in text
    assert "benchwright eval -d questions.jsonl" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_examples_of_itself(command: str) -> None:
    text = benchwright(command, "--help").stdout
    assert text.startswith(f"Usage: benchwright {command} ")
    _, examples = text.split("Examples:")
    assert f"benchwright {command}" in examples


@pytest.mark.parametrize(
    ("program", "command"),
    [
        ("osmosis", ["eval"]),
        ("osmosis", ["bench"]),
        ("osmosis", ["cache"]),
        ("llm-bench", ["run"]),
        ("llm-bench", []),
    ],
)
def test_help_calls_the_program_by_the_name_that_was_typed(program: str, command: list[str]) -> None:
    script = Path(sys.executable).parent / program
    ended = subprocess.run([script, *command, "--help"], capture_output=True, text=True, check=True)
    assert ended.stdout.startswith(f"Usage: {' '.join([program, *command])} ")
    assert re.search(rf"^ +{' '.join([program, *command])} ", ended.stdout.partition("Examples:")[2], re.M)
    assert "benchwright " not in ended.stdout


def test_nothing_is_said_or_done_by_importing_the_package() -> None:
    code = "import benchwright, sys; print(sorted(name for name in sys.modules if 'benchwright' in name))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("['benchwright']\n", "")
