"""Runs the tests of a Terminal-Bench 1.0 task: in a new shell, or in the agent's shell."""

from __future__ import annotations

from pathlib import Path

from benchwright.catalog.containers import BashSession
from benchwright.catalog.harbor.environment import TESTS_FOLDER, TaskContainers
from benchwright.catalog.harbor.settings import Step
from benchwright.catalog.harbor.testing import (
    MAX_KEPT_BYTES,
    MAX_OUTPUT_BYTES,
    SuiteResult,
    build_suite_result,
    copy_tests,
)
from benchwright.sandbox.docker import ExecResult

_COMMAND = f"exec bash {TESTS_FOLDER}/run-tests.sh </dev/null 2>&1"


async def run_version_1_tests(place: TaskContainers, folder: Path, step: Step) -> SuiteResult:
    """Copy the tests into the container, run their official command, and return the result.

    Raises:
        ExecutionError: If the container was ended from outside, or the engine does not respond.
    """
    tests = [folder / one for one in step.tests if (folder / one).is_dir()]
    await copy_tests(place, [folder / "run-tests.sh", *tests])
    if step.same_shell:
        return await _in_the_agents_shell(place, step)
    ended = await place.user_sandbox(step.test_user).run(
        ["sh", "-c", _COMMAND],
        seconds=step.test_seconds,
        environment=place.environment,
        kept_bytes=MAX_KEPT_BYTES,
        output_bytes=MAX_OUTPUT_BYTES,
    )
    return build_suite_result(ended)


async def _in_the_agents_shell(place: TaskContainers, step: Step) -> SuiteResult:
    shell = BashSession(place.sandbox, kept_bytes=MAX_KEPT_BYTES, state=place.terminal_directory)
    record = await shell.run(f"bash {TESTS_FOLDER}/run-tests.sh", step.test_seconds)
    output = record.output.encode("utf-8", "replace")
    return build_suite_result(
        ExecResult(
            record.ended,
            record.exit_code,
            output,
            seconds=record.seconds,
            container_ended=record.container_ended,
        )
    )
