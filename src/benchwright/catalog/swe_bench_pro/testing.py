"""Tests a patch in a separate container, by the rules of swe_bench_pro_eval.py."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from benchwright.catalog.containers.patches import drop_binary_parts
from benchwright.catalog.swe_bench_pro.result_parsing import (
    LOGS,
    PARSER,
    REPOSITORY_DIRECTORY,
    WORKSPACE_DIRECTORY,
    StartReaderContainer,
    UnreadableResult,
    build_parsing_script,
    parse_in_new_container,
    read_statuses,
)
from benchwright.records import Record
from benchwright.sandbox.docker import Sandbox
from benchwright.sandbox.docker.archives import FileMissing, FileTooLarge

MAX_LOG_BYTES = 16 * 1024
MAX_OUTPUT_BYTES = 16 * 1024 * 1024
MAX_LOG_FILE_BYTES = 32 * 1024 * 1024
"""Maximum size in bytes of a log."""

_NOT_APPLIED = "benchwright: the patch was not applied"

_FILES = re.compile(r"^diff --git a/.* b/(.*)$", re.MULTILINE)

_LIMITS = {
    "timeout": "the tests took longer than {seconds:g} s",
    "output": "the tests printed too much",
    "memory": "memory ran out in the tests",
    "disk": "the tests wrote too much to the disk",
}


class TestResults(Record, frozen=True):
    """Result of the tests.

    - `statuses`: the parser's statuses of the instance's own tests; empty if there is a `problem`.
    - `closed_statuses`: the statuses if output after the test runner's closing line is ignored; None if there
      was no such output.
    - `log`: the output of applying the patch, and the end of the tests' output.
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
    """Return the script that resets the work tree, applies the patch and the test files, and runs the tests.

    `added`: shell lines that run when the test files are in place. Of the instance's own commands, only the
    last line is run, which checks the test files out from the fixed commit. If the image lacks later commits,
    the test files come from the test patch; this fallback is Benchwright's.
    """
    base = content["base_commit"]
    before = content["before"].strip().split("\n")[-1]
    selected = ",".join(content["selected_test_files_to_run"])
    lines = [
        *content["environment"],
        f"cd {REPOSITORY_DIRECTORY}",
        f"git reset --hard {base}",
        f"git checkout {base}",
        f"git apply -v {WORKSPACE_DIRECTORY}/patch.diff || echo '{_NOT_APPLIED}'",
        before or "false",
        f"[ $? -eq 0 ] || {{ {_from_test_patch(base, content['test_patch'])}; }}",
        *([added] if added else []),
        f"bash {WORKSPACE_DIRECTORY}/run_script.sh {selected} > "
        f"{WORKSPACE_DIRECTORY}/{LOGS[0]} 2> {WORKSPACE_DIRECTORY}/{LOGS[1]}",
    ]
    return "\n".join(lines) + "\n"


def _from_test_patch(base: str, test_patch: str) -> str:
    files = " ".join(shlex.quote(name) for name in dict.fromkeys(_FILES.findall(test_patch)))
    start = f'for file in {files}; do git checkout -q {base} -- "$file" || rm -rf -- "$file"; done'
    return f"{start}; git apply -v {WORKSPACE_DIRECTORY}/test_patch.diff"


async def run_tests(
    sandbox: Sandbox,
    content: Mapping[str, Any],
    patch: str,
    seconds: float,
    reader: StartReaderContainer | None = None,
    *,
    added: str = "",
    kept_log: int = MAX_LOG_BYTES,
) -> TestResults:
    """Test a patch in a fresh container of the instance's image, and return the results.

    - `reader`: starts the container in which the parser reads the logs. If it is None, the parser runs in the
      container of the tests, as in the official harness.
    - `added`: shell lines that change the tests before they run.
    - `kept_log`: maximum number of bytes that are kept of the two logs together, half of them from the end of
      each.

    Raises:
        ExecutionError: If the container was ended from outside, or the engine does not respond.
    """
    files = {
        "patch.diff": drop_binary_parts(patch),
        "test_patch.diff": drop_binary_parts(content["test_patch"]),
        "run_script.sh": content["run_script"],
        "entry_script.sh": entry_script(content, added) + ("" if reader else build_parsing_script(content)),
        **({} if reader else {PARSER: content["parser"]}),
    }
    await sandbox.write_files(
        {f"{WORKSPACE_DIRECTORY}/{name}": text.encode("utf-8", "replace") for name, text in files.items()}
    )
    argv = ["bash", f"{WORKSPACE_DIRECTORY}/entry_script.sh"]
    ended = await sandbox.run(argv, seconds=seconds, kept_bytes=MAX_LOG_BYTES, output_bytes=MAX_OUTPUT_BYTES)
    log = (ended.stdout + ended.stderr).decode("utf-8", "replace")
    applied = _NOT_APPLIED not in log
    how = (applied, log, round(ended.seconds, 3), ended.reason, ended.exit_code)
    if ended.reason != "exited":
        return TestResults(*how, problem=_LIMITS[ended.reason].format(seconds=seconds))
    logs = {name: await _log(sandbox, name) for name in LOGS}
    log += "".join(text[-kept_log // 2 :].decode("utf-8", "replace") for text in logs.values())
    how = (applied, log, *how[2:])
    try:
        if reader is None:
            return TestResults(*how, statuses=await read_statuses(sandbox, content))
        return TestResults(*how, *await parse_in_new_container(reader, content, logs))
    except UnreadableResult as error:
        return TestResults(*how, problem=str(error))


async def _log(sandbox: Sandbox, name: str) -> bytes:
    """Return a log of the tests. If the log is missing, return the reason in brackets."""
    try:
        return await sandbox.read_file(f"{WORKSPACE_DIRECTORY}/{name}", MAX_LOG_FILE_BYTES)
    except (FileMissing, FileTooLarge) as error:
        return f"[{error}]\n".encode()
