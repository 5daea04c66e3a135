"""Tests a patch in a container of its own, as swe_bench_pro_eval.py does."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from benchwright.catalog.containers.patches import text_only
from benchwright.engine.offload import offload
from benchwright.records import UNREADABLE, Record
from benchwright.sandbox.docker import ExecResult, Sandbox
from benchwright.sandbox.docker.archives import FileTooLarge, NoFile

DIRECTORY = "/app"
ROOM = "/workspace"

LARGEST_RESULT = 16 * 1024 * 1024
"""Bytes of the parser's result that are read."""
LONG_RESULT = 256 * 1024
KEPT_LOG = 16 * 1024
LARGEST_LOG = 32 * 1024 * 1024
"""Bytes of a log whose end is shown."""

PASSED = "PASSED"

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

    `statuses` are those that the parser gave, of the instance's own tests; with a `problem` there are none. `log` is
    what patching printed, and the end of what the tests did.
    """

    applied: bool
    log: str
    seconds: float
    ended: str
    exit_code: int | None
    statuses: dict[str, str] = {}
    problem: str | None = None


class _Test(msgspec.Struct):
    name: str
    status: str


class _Result(msgspec.Struct):
    tests: list[_Test]


def entry_script(content: Mapping[str, Any]) -> str:
    """The script: start of the work tree, patch, the instance's own test files, run script, parser.

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
        f"bash {ROOM}/run_script.sh {selected} > {ROOM}/stdout.log 2> {ROOM}/stderr.log",
        f"python {ROOM}/parser.py {ROOM}/stdout.log {ROOM}/stderr.log {ROOM}/output.json",
    ]
    return "\n".join(lines) + "\n"


def _from_test_patch(base: str, test_patch: str) -> str:
    files = " ".join(shlex.quote(name) for name in dict.fromkeys(_FILES.findall(test_patch)))
    start = f'for file in {files}; do git checkout -q {base} -- "$file" || rm -rf -- "$file"; done'
    return f"{start}; git apply -v {ROOM}/test_patch.diff"


async def run_tests(sandbox: Sandbox, content: Mapping[str, Any], patch: str, seconds: float) -> Findings:
    """Tests a patch in a fresh container of the instance's image.

    Raises:
        ExecutionError: the container was ended by somebody else, or the engine does not answer.
    """
    files = {
        "patch.diff": text_only(patch),
        "test_patch.diff": text_only(content["test_patch"]),
        "run_script.sh": content["run_script"],
        "parser.py": content["parser"],
        "entry_script.sh": entry_script(content),
    }
    await sandbox.write_files(
        {f"{ROOM}/{name}": text.encode("utf-8", "replace") for name, text in files.items()}
    )
    ended = await _run(sandbox, ["bash", f"{ROOM}/entry_script.sh"], seconds)
    log = (ended.stdout + ended.stderr).decode("utf-8", "replace")
    applied = _NOT_APPLIED not in log
    how = (applied, log, round(ended.seconds, 3), ended.reason, ended.exit_code)
    if ended.reason != "exited":
        return Findings(*how, problem=_LIMITS[ended.reason].format(seconds=seconds))
    log += "".join([await _log(sandbox, name) for name in ("stdout.log", "stderr.log")])
    how = (applied, log, *how[2:])
    try:
        result = await sandbox.read_file(f"{ROOM}/output.json", LARGEST_RESULT)
    except FileTooLarge:
        return Findings(*how, problem=f"the parser's result is larger than {LARGEST_RESULT // 2**20} MiB")
    except NoFile:
        return Findings(*how, problem="the parser wrote no result")
    try:
        wanted = {*content["fail_to_pass"], *content["pass_to_pass"]}
        return Findings(*how, statuses=await _statuses(result, wanted))
    except ValueError as error:
        return Findings(*how, problem=str(error))


async def _log(sandbox: Sandbox, name: str) -> str:
    """The end of a log of the tests."""
    try:
        content = await sandbox.read_file(f"{ROOM}/{name}", LARGEST_LOG)
    except (NoFile, FileTooLarge) as error:
        return f"[{error}]\n"
    return content[-KEPT_LOG // 2 :].decode("utf-8", "replace")


def statuses_in(result: bytes, wanted: Iterable[str]) -> dict[str, str]:
    """The statuses of the wanted tests in a parser's result; a test that passed once has passed.

    Raises:
        ValueError: it is not what a parser should write: {"tests": [{"name": …, "status": …}]}.
    """
    try:
        tests = msgspec.json.decode(result, type=_Result).tests
    except UNREADABLE as error:
        raise ValueError(f"the parser's result is invalid: {error}") from None
    statuses: dict[str, str] = {}
    names = frozenset(wanted)
    for test in tests:
        if test.name in names and statuses.get(test.name) != PASSED:
            statuses[test.name] = test.status[:40]
    return statuses


async def _statuses(result: bytes, wanted: set[str]) -> dict[str, str]:
    """Reads a long result in a process of its own."""
    if len(result) > LONG_RESULT:
        return await offload(statuses_in, result, wanted)
    return statuses_in(result, wanted)


async def _run(sandbox: Sandbox, argv: list[str], seconds: float, kept_bytes: int = KEPT_LOG) -> ExecResult:
    return await sandbox.run(
        argv, seconds=seconds, kept_bytes=kept_bytes, output_bytes=max(2 * kept_bytes, 16 * 2**20)
    )
