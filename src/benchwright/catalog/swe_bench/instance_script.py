"""Builds the test script of an instance, in the form of swebench's harness. Lists the files that a patch changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from benchwright.catalog.swe_bench.repositories import find_recipe

REPOSITORY_DIRECTORY = "/testbed"
ACTIVATE_COMMANDS = ("source /opt/miniconda3/bin/activate", "conda activate testbed")

START_MARK = ">>>>> Start Test Output"
END_MARK = ">>>>> End Test Output"
EXIT_CODE_MARK = ">>>>> Test Exit Code"

APPLY_FAILED_MARK = ">>>>> Patch Apply Failed"
RESET_FAILED_MARK = ">>>>> Reset Failed"
ERRORED_MARK = ">>>>> Tests Errored"
TIMED_OUT_MARK = ">>>>> Tests Timed Out"

_END_OF_PATCH = "EOF_114329324912"
EXIT_CODE_VARIABLE = "SWEBENCH_TEST_EXIT_CODE"
"""The script's variable that contains the exit code of the test command."""


def official_image_name(instance: str) -> str:
    """Return the official prebuilt image of an instance."""
    return f"swebench/sweb.eval.x86_64.{instance.lower()}:latest".replace("__", "_1776_")


def build_script(content: Mapping[str, Any]) -> str:
    """Return the bash script that tests an instance.

    The script reinstalls the project, resets and patches the test files, and runs them between two marker
    lines.
    """
    repo, base, test_patch = content["repo"], content["base_commit"], content["test_patch"]
    how = find_recipe(repo, content["version"])
    reset = f"git checkout {base} {' '.join(find_changed_files(test_patch))}"
    lines = [
        "#!/bin/bash",
        "set -uxo pipefail",
        *ACTIVATE_COMMANDS,
        f"cd {REPOSITORY_DIRECTORY}",
        *how.before,
        f"git config --global --add safe.directory {REPOSITORY_DIRECTORY}",
        f"cd {REPOSITORY_DIRECTORY}",
        "git status",
        "git show",
        f"git -c core.fileMode=false diff {base}",
        *ACTIVATE_COMMANDS,
        how.install,
        reset,
        f"git apply -v - <<'{_END_OF_PATCH}'\n{test_patch}\n{_END_OF_PATCH}",
        f": '{START_MARK}'",
        " ".join([how.tests, *arguments_of_test_command(repo, test_patch)]),
        f"{EXIT_CODE_VARIABLE}=$?",
        f": '{END_MARK}'",
        f'echo "{EXIT_CODE_MARK}: ${EXIT_CODE_VARIABLE}"',
        reset,
    ]
    return "\n".join(lines) + "\n"


def insert_lines(script: str, added: str) -> str:
    """Return the script with the shell lines `added`, which run after the tests are patched and before the build."""
    if not added:
        return script
    lines = script.split("\n")
    start = next(number for number, line in enumerate(lines) if START_MARK in line)
    ends = [number for number, line in enumerate(lines[:start], 1) if line == _END_OF_PATCH]
    at = ends[-1] if ends else start
    return "\n".join([*lines[:at], added.rstrip("\n"), *lines[at:]])


_TESTED = re.compile(r"diff --git a/.* b/(.*)")
_HEADER = re.compile(r"diff --git a/(.*) b/(.*)")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")

_NO_TESTS = (".json", ".png", "csv", ".txt", ".md", ".jpg", ".jpeg", ".pkl", ".yml", ".yaml", ".toml")
"""Endings of file names. A file of a test patch with such a name is not a test."""


def find_changed_files(patch: str) -> list[str]:
    """Return the files that a patch changes, removes or renames, by their old names.

    Files that the patch adds are left out.
    """
    return [old for old in _old_names(patch) if old is not None]


def _old_names(patch: str) -> Iterator[str | None]:
    lines = iter(patch.split("\n"))
    pending: str | None = None
    for line in lines:
        header, hunk = _HEADER.match(line), _HUNK.match(line)
        if header:
            yield pending
            pending = header[1]
        elif line.startswith("new file mode") or line == "--- /dev/null":
            pending = None
        elif line.startswith("--- a/"):
            pending = line[len("--- a/") :].partition("\t")[0]
        elif hunk:
            _skip_hunk(lines, *(1 if count is None else int(count) for count in hunk.groups()))
    yield pending


def _skip_hunk(lines: Iterator[str], old: int, new: int) -> None:
    """Skip the lines of a hunk, because they may look like file headings."""
    while old > 0 or new > 0:
        line = next(lines, None)
        if line is None:
            return
        old -= line[:1] in ("-", " ", "")
        new -= line[:1] in ("+", " ", "")


def arguments_of_test_command(repo: str, test_patch: str) -> list[str]:
    """Return the arguments of the test command: the files of the test patch.

    For Django's test runner, the arguments are the names of these files as modules.
    """
    files = [name for name in _TESTED.findall(test_patch) if not name.endswith(_NO_TESTS)]
    return [_module(name) for name in files] if repo == "django/django" else files


def _module(name: str) -> str:
    return name.removesuffix(".py").removeprefix("tests/").replace("/", ".")
