"""The script that tests an instance, as swebench's harness writes it (eval script and record_test_exit_code)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.catalog.swe_bench.patches import changed_files, files_to_test
from benchwright.catalog.swe_bench.repositories import recipe

DIRECTORY = "/testbed"
ACTIVATE = ("source /opt/miniconda3/bin/activate", "conda activate testbed")

START = ">>>>> Start Test Output"
END = ">>>>> End Test Output"
EXIT_CODE = ">>>>> Test Exit Code"

NOT_APPLIED = ">>>>> Patch Apply Failed"
RESET_FAILED = ">>>>> Reset Failed"
ERRORED = ">>>>> Tests Errored"
TIMED_OUT = ">>>>> Tests Timed Out"

_END_OF_PATCH = "EOF_114329324912"
_STATUS = "SWEBENCH_TEST_EXIT_CODE"


def image(instance: str) -> str:
    """The official prebuilt image of an instance."""
    return f"swebench/sweb.eval.x86_64.{instance.lower()}:latest".replace("__", "_1776_")


def script(content: Mapping[str, Any]) -> str:
    """The bash script: installs again, puts the test files back, patches them, and runs them between two marks."""
    repo, base, test_patch = content["repo"], content["base_commit"], content["test_patch"]
    how = recipe(repo, content["version"])
    reset = f"git checkout {base} {' '.join(changed_files(test_patch))}"
    lines = [
        "#!/bin/bash",
        "set -uxo pipefail",
        *ACTIVATE,
        f"cd {DIRECTORY}",
        *how.before,
        f"git config --global --add safe.directory {DIRECTORY}",
        f"cd {DIRECTORY}",
        "git status",
        "git show",
        f"git -c core.fileMode=false diff {base}",
        *ACTIVATE,
        how.install,
        reset,
        f"git apply -v - <<'{_END_OF_PATCH}'\n{test_patch}\n{_END_OF_PATCH}",
        f": '{START}'",
        " ".join([how.tests, *files_to_test(repo, test_patch)]),
        f"{_STATUS}=$?",
        f": '{END}'",
        f'echo "{EXIT_CODE}: ${_STATUS}"',
        reset,
    ]
    return "\n".join(lines) + "\n"
