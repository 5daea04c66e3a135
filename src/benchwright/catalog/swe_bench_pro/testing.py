"""Tests a patch in a container of its own, as swe_bench_pro_eval.py does."""

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
"""Bytes of a log that is read."""

_NOT_APPLIED = "benchwright: the patch was not applied"

_FILES = re.compile(r"^diff --git a/.* b/(.*)$", re.MULTILINE)

_LIMITS = {
    "timeout": "the tests took longer than {seconds:g} s",
    "output": "the tests printed too much",
    "memory": "memory ran out in the tests",
    "disk": "the tests wrote too much to the disk",
}


class Findings(Record, frozen=True):
    """What came of the tests.

    `statuses` are those that the parser gave, of the instance's own tests; with a `problem` there are none.
    `closed_statuses` are those of the logs without what was printed after the tests' runner had closed them, where that
    is something. `log` is what patching printed, and the end of what the tests did.
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
    """The script: start of the work tree, patch, the instance's own test files, `added` lines of shell, run script.

    Of the instance's commands only the last line is run, which takes the test files out of the fixed commit. Where the
    image holds no later commits, they come from the test patch; that is ours.
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
    """Test a patch in a fresh container of the instance's image, after the lines of shell `added` changed its tests.

    The parser reads the logs in the container that `reader` starts. Without one it reads, as officially, where the
    tests ran. Of each log its last `kept_log` / 2 bytes are kept.

    Raises:
        ExecutionError: the container was ended by somebody else, or the engine does not answer.
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
    """A log of the tests, or in brackets why there is none."""
    try:
        return await sandbox.read_file(f"{ROOM}/{name}", LARGEST_LOG)
    except (NoFile, FileTooLarge) as error:
        return f"[{error}]\n".encode()
