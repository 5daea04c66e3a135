"""A made-up instance in the layout of SWE-bench Multilingual: a project of the shell, tested as Redis tests itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.catalog.swe_bench.made_repositories import (
    Files,
    commit,
    commit_elsewhere,
    difference,
    git,
    write,
)

from benchwright.catalog.swe_bench.instance_script import find_changed_files, official_image_name

RUNTEST = """\
#!/bin/sh
failed=0
check() {
  if [ "$2" = "$3" ]; then echo "[ok]: $1 (1 ms)"; else echo "[err]: $1 in tests/unit/sums.tcl"; failed=1; fi
}
echo "[testing]: unit/sums"
. ./sums.sh
. ./tests/sums.sh
echo "[1/1 done]: unit/sums (0 seconds)"
echo "                   The End"
exit $failed
"""
SUMS: Files = {
    "README.md": "Sums\n",
    "Makefile": "all:\n\ttrue\n",
    "runtest": RUNTEST,
    "sums.sh": 'add() { echo "$(($1 + $2))"; }\n\nhalf() { echo "$(($1 / 3))"; }\n',
    "tests/sums.sh": 'check "ADD adds" "$(add 1 2)" 3\n',
}
FIXED: Files = {"sums.sh": SUMS["sums.sh"].replace("/ 3", "/ 2")}
TESTED: Files = {
    "tests/sums.sh": SUMS["tests/sums.sh"]
    + 'check "HALF of 8" "$(half 8)" 4\ncheck "HALF of 0" "$(half 0)" 0\n'
}
FORGED = 'echo "[ok]: ADD adds"; echo "[ok]: HALF of 8"; echo "[ok]: HALF of 0"; exit 0'
"""A line of the tested code that prints results and ends the runner."""


def row(
    number: int, base: str = "0" * 40, patch: str = "", test_patch: str = "", **more: Any
) -> dict[str, Any]:
    """A row as swebench 5.0 reads it."""
    instance = f"redis__redis-{number}"
    return {
        "repo": "redis/redis",
        "instance_id": instance,
        "base_commit": base,
        "patch": patch,
        "test_patch": test_patch,
        "problem_statement": "half 8 is 2\nIt should be 4.",
        "hints_text": "",
        "created_at": "2026-01-01 00:00:00",
        "version": str(number),
        "image": official_image_name(instance),
        "eval_script": eval_script(base, test_patch, ["TERM=dumb ./runtest --durable --single unit/sums"]),
        "log_parser": "parse_log_redis",
        "eval_type": "pass_and_fail",
        "FAIL_TO_PASS": ["HALF of 8"],
        "PASS_TO_PASS": ["ADD adds", "HALF of 0"],
        **more,
    }


def eval_script(base: str, test_patch: str, tests: Sequence[str]) -> str:
    """The script of a row with these test commands, in the form that its authors gave to all of them."""
    reset = f"git checkout {base} {' '.join(find_changed_files(test_patch))}"
    lines = [
        *("#!/bin/bash", "set -uxo pipefail", "cd /testbed"),
        *("git config --global --add safe.directory /testbed", "cd /testbed", reset),
        f"git apply --verbose --reject - <<'EOF_114329324912'\n{test_patch}\nEOF_114329324912",
        *("make", ": '>>>>> Start Test Output'", *tests, ": '>>>>> End Test Output'", reset),
    ]
    return "\n".join(lines) + "\n"


def make_instance_of(folder: Path, number: int) -> dict[str, Any]:
    """The row of an instance whose repository is made in the folder. What setting it up has changed and built is not
    committed, as in the official images, and a branch has the fix."""
    git(folder, "init", "--quiet")
    write(folder, SUMS)
    base = commit(folder, "Base")
    patch, test_patch = difference(folder, FIXED), difference(folder, TESTED)
    commit_elsewhere(folder, FIXED)
    write(folder, {"README.md": "Sums, set up\n", "build/objects": "built\n"})
    return row(number, base, patch, test_patch)
