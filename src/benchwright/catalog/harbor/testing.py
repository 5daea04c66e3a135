"""Runs a task's own tests in a container, and reads the rewards that they write."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from benchwright.catalog.harbor.environment import LOGS_FOLDER, TESTS_FOLDER, TaskContainers
from benchwright.catalog.harbor.settings import Step
from benchwright.records import Record
from benchwright.sandbox.docker import ExecResult
from benchwright.sandbox.docker.archives import FileMissing, FileTooLarge, PathStat, path_stat
from benchwright.sandbox.docker.containers import MiB
from benchwright.sandbox.docker.copy_tree import make_folder, write_tree

MAX_KEPT_BYTES = 1 * MiB
MAX_OUTPUT_BYTES = 128 * MiB
MAX_LOG_PART_CHARACTERS = 32 * 1024
"""Number of characters that an outcome keeps of the log's start, and of its end."""
SUMMARY_CHARACTERS = 512 * 1024
MAX_REWARD_LENGTH = 64 * 1024
CLEARING_SECONDS = 60.0

SUMMARY_HEADING = re.compile(r"(?<!=)=+\s*short test summary info\s*=+", re.IGNORECASE)
"""The heading of pytest's summary."""

_SCRIPT = f"""
exec </dev/null 2>&1
read -r first <{TESTS_FOLDER}/test.sh
case $first in '#!'*) exec {TESTS_FOLDER}/test.sh;; *) exec bash {TESTS_FOLDER}/test.sh;; esac
"""
_REWARDS = (f"{LOGS_FOLDER}/verifier/reward.txt", f"{LOGS_FOLDER}/verifier/reward.json")

_CANNOT_RUN = (126, 127)
_SIGNALLED = frozenset(128 + signal for signal in (1, 2, 3, 9, 15))
_ENDS_OTHERS = re.compile(r"\b(?:kill|pkill|killall|wait|timeout|trap)\b")
"""Regular expression for shell commands through which a script can exit with a signal's exit code by itself."""
_NO_PROGRAM = b"OCI runtime exec failed"
CONTAINER_DESTROYED_ENDING = "container_destroyed"


class SuiteResult(Record, frozen=True):
    """One test run: how the run ended, the start and end of its output (`log`), and the rewards.

    `summary`: the output from pytest's heading on; None if there is no heading. `summary_cut`: True if part
    of the summary is missing. `reward_text`, `reward_json`: contents of Harbor's two reward files; None if
    missing.
    """

    ended: str
    exit_code: int | None = None
    seconds: float = 0.0
    log: str = ""
    summary: str | None = None
    summary_cut: bool = False
    reward_text: str | None = None
    reward_json: str | None = None
    reason: str | None = None


RunTests = Callable[[TaskContainers, Path, Step], Awaitable[SuiteResult]]
"""A function that runs the tests of a step in a container. The tests are in the task's folder."""


async def run_tests(place: TaskContainers, folder: Path, step: Step) -> SuiteResult:
    """Copy the tests into the container, and run their official command. Tests in the image are not copied.

    Files at the paths of tests and rewards are removed first.

    Raises:
        ExecutionError: If the container was ended from outside, or the engine does not respond.
    """
    await copy_tests(place, [folder / one for one in step.tests], f"{LOGS_FOLDER}/verifier")
    await make_folder(place.root_sandbox, f"{LOGS_FOLDER}/verifier", 0o777)
    await place.root_sandbox.run(["chmod", "+x", f"{TESTS_FOLDER}/test.sh"], seconds=CLEARING_SECONDS)
    left_before = [await _stat(place, path) for path in _REWARDS]
    ended = await place.user_sandbox(step.test_user).run(
        ["sh", "-c", _SCRIPT],
        seconds=step.test_seconds,
        environment={**place.environment, **step.test_environment},
        kept_bytes=MAX_KEPT_BYTES,
        output_bytes=MAX_OUTPUT_BYTES,
    )
    if _gone(ended):
        return build_suite_result(ended)
    rewards = [await _reward(place, path, old) for path, old in zip(_REWARDS, left_before, strict=True)]
    return build_suite_result(ended, *rewards)


async def copy_tests(place: TaskContainers, sources: Sequence[Path], *cleared: str) -> None:
    """Clear the paths of tests and rewards, and write the tests. Later sources overwrite earlier sources.

    Only the removal needs a program in the container. If the removal fails, the tests overwrite existing
    files, and a reward that existed before is ignored.
    """
    paths = [*cleared, *([TESTS_FOLDER] if sources and not place.has_tests_in_image else [])]
    if paths:
        await place.root_sandbox.run(["rm", "-rf", *paths], seconds=CLEARING_SECONDS)
    for source in sources:
        await write_tree(place.root_sandbox, [source], TESTS_FOLDER)


async def _stat(place: TaskContainers, path: str) -> PathStat | None:
    return await path_stat(place.sandbox.container, path)


async def _reward(place: TaskContainers, path: str, before: PathStat | None) -> str | None:
    """Return the text of a reward file.

    Return None if the file is missing, unreadable, or not written by the tests.
    """
    after = await _stat(place, path)
    if after is None or after == before:
        return None
    try:
        return (await place.root_sandbox.read_file(path, MAX_REWARD_LENGTH)).decode("utf-8", "replace")
    except (FileMissing, FileTooLarge):
        return None


def _gone(ended: ExecResult) -> bool:
    return ended.container_ended or ended.exit_code is None


def build_suite_result(ended: ExecResult, text: str | None = None, json: str | None = None) -> SuiteResult:
    """Build the result of a test run from the result of the test command.

    `text` and `json`: the contents of reward.txt and reward.json; None if missing.
    """
    log = ended.stdout.decode("utf-8", "replace")
    heading = SUMMARY_HEADING.search(log)
    summary = log[heading.start() :] if heading else None
    destroyed = ended.exit_code in _CANNOT_RUN and ended.stdout.startswith(_NO_PROGRAM)
    return SuiteResult(
        ended=CONTAINER_DESTROYED_ENDING if destroyed else ended.reason,
        exit_code=ended.exit_code,
        seconds=round(ended.seconds, 3),
        log=_bounded(log),
        summary=summary[-SUMMARY_CHARACTERS:] if summary else None,
        summary_cut=len(summary or "") > SUMMARY_CHARACTERS,
        reward_text=text,
        reward_json=json,
        reason="no program can be started in the container any more" if destroyed else ended.detail,
    )


def find_ending_signal(tested: SuiteResult, scripts: str) -> int | None:
    """Return the signal that ended the tests' script, derived from the script's exit code.

    Return None if no signal ended it, or if the script may exit with that code by itself.
    """
    code = tested.exit_code or 0
    return code - 128 if code in _SIGNALLED and not _ENDS_OTHERS.search(scripts) else None


def _bounded(log: str) -> str:
    cut = len(log) - 2 * MAX_LOG_PART_CHARACTERS
    if cut <= 0:
        return log
    return f"{log[:MAX_LOG_PART_CHARACTERS]}\n[... {cut} characters left out ...]\n{log[-MAX_LOG_PART_CHARACTERS:]}"
