"""Tests a patch in a separate container, as swe_bench_pro_eval.py does."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from benchwright.catalog.containers.patches import text_only
from benchwright.catalog.swe_bench_pro.reading import (
    DIRECTORY,
    LOGS,
    PARSER,
    ROOM,
    Reader,
    Unreadable,
    read_apart,
    reading_script,
    statuses_of,
)
from benchwright.records import Record
from benchwright.sandbox.docker import Sandbox
from benchwright.sandbox.docker.archives import FileTooLarge, NoFile

KEPT_LOG = 16 * 1024
OUTPUT_BYTES = 16 * 1024 * 1024
LARGEST_LOG = 32 * 1024 * 1024
"""Maximum size in bytes of a log."""

_NOT_APPLIED = "benchwright: the patch was not applied"

_FILES = re.compile(r"^diff --git a/.* b/(.*)$", re.MULTILINE)

_LIMITS = {
    "timeout": "the tests took longer than {seconds:g} s",
    "output": "the tests printed too much",
    "memory": "memory ran out in the tests",
    "disk": "the tests wrote too much to the disk",
}


class Findings(Record, frozen=True):
    """Result of the tests.

    `statuses` are the parser's statuses of the instance's own tests. With a `problem`, there are none.
    `closed_statuses` are the statuses without output printed after the test runner had closed its logs; None
    if there was none. `log` is the output of patching, and the end of the tests' output.
    """

    applied: bool
    log: str
    seconds: float
    ended: str
    exit_code: int | None
    statuses: dict[str, str] = {}
    closed_statuses: dict[str, str] | None = None
    problem: str | None = None


def entry_script(content: Mapping[str, Any], added: str = "") -> str:
    """Return the script: reset, patch, the instance's test files, `added` shell lines, run script.

    Of the instance's commands, only the last line is run, which checks the test files out from the fixed
    commit. If the image lacks later commits, the test files come from the test patch; this fallback is our
    own.
    """
    base = content["base_commit"]
    before = content["before"].strip().split("\n")[-1]
    selected = ",".join(content["selected_test_files_to_run"])
    lines = [
        *content["environment"],
        f"cd {DIRECTORY}",
        f"git reset --hard {base}",
        f"git checkout {base}",
        f"git apply -v {ROOM}/patch.diff || echo '{_NOT_APPLIED}'",
        before or "false",
        f"[ $? -eq 0 ] || {{ {_from_test_patch(base, content['test_patch'])}; }}",
        *([added] if added else []),
        f"bash {ROOM}/run_script.sh {selected} > {ROOM}/{LOGS[0]} 2> {ROOM}/{LOGS[1]}",
    ]
    return "\n".join(lines) + "\n"


def _from_test_patch(base: str, test_patch: str) -> str:
    files = " ".join(shlex.quote(name) for name in dict.fromkeys(_FILES.findall(test_patch)))
    start = f'for file in {files}; do git checkout -q {base} -- "$file" || rm -rf -- "$file"; done'
    return f"{start}; git apply -v {ROOM}/test_patch.diff"


async def run_tests(
    sandbox: Sandbox,
    content: Mapping[str, Any],
    patch: str,
    seconds: float,
    reader: Reader | None = None,
    *,
    added: str = "",
    kept_log: int = KEPT_LOG,
) -> Findings:
    """Test a patch in a fresh container of the instance's image, after shell lines changed its tests.

    These lines are `added`. The parser reads the logs in a container started by `reader` or, if it is None,
    in the tests' container, as officially. The last `kept_log` / 2 bytes of each log are kept.

    Raises:
        ExecutionError: If something else ended the container, or the engine does not respond.
    """
    files = {
        "patch.diff": text_only(patch),
        "test_patch.diff": text_only(content["test_patch"]),
        "run_script.sh": content["run_script"],
        "entry_script.sh": entry_script(content, added) + ("" if reader else reading_script(content)),
        **({} if reader else {PARSER: content["parser"]}),
    }
    await sandbox.write_files(
        {f"{ROOM}/{name}": text.encode("utf-8", "replace") for name, text in files.items()}
    )
    argv = ["bash", f"{ROOM}/entry_script.sh"]
    ended = await sandbox.run(argv, seconds=seconds, kept_bytes=KEPT_LOG, output_bytes=OUTPUT_BYTES)
    log = (ended.stdout + ended.stderr).decode("utf-8", "replace")
    applied = _NOT_APPLIED not in log
    how = (applied, log, round(ended.seconds, 3), ended.reason, ended.exit_code)
    if ended.reason != "exited":
        return Findings(*how, problem=_LIMITS[ended.reason].format(seconds=seconds))
    logs = {name: await _log(sandbox, name) for name in LOGS}
    log += "".join(text[-kept_log // 2 :].decode("utf-8", "replace") for text in logs.values())
    how = (applied, log, *how[2:])
    try:
        if reader is None:
            return Findings(*how, statuses=await statuses_of(sandbox, content))
        return Findings(*how, *await read_apart(reader, content, logs))
    except Unreadable as error:
        return Findings(*how, problem=str(error))


async def _log(sandbox: Sandbox, name: str) -> bytes:
    """Return a log of the tests, or the reason in brackets why there is none."""
    try:
        return await sandbox.read_file(f"{ROOM}/{name}", LARGEST_LOG)
    except (NoFile, FileTooLarge) as error:
        return f"[{error}]\n".encode()
