"""Solves tasks given as folders, and builds the outcomes of their trials."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import msgspec

from benchwright.catalog.containers import AgentOptions
from benchwright.catalog.containers.flags import FLAGS_KEY
from benchwright.catalog.containers.gold_tallies import compare_with_gold
from benchwright.catalog.containers.network_failures import (
    find_network_failure,
    have_tests_started,
    setup_failure_message,
)
from benchwright.catalog.containers.traffic import with_traffic
from benchwright.catalog.harbor.attempt import Attempt, TrialRun
from benchwright.catalog.harbor.environment import TaskContainerStarter
from benchwright.catalog.harbor.grading import STEPS, TESTS, LogParser, build_verdict, grade
from benchwright.catalog.harbor.network_phases import needs_proxy, read_test_texts
from benchwright.catalog.harbor.rows import instructions_of, settings_of
from benchwright.catalog.harbor.script_hiding import ScriptHider
from benchwright.catalog.harbor.sealed_testing import RERUN
from benchwright.catalog.harbor.settings import TaskSettings, scale_time_limits
from benchwright.catalog.harbor.task_folders import TaskFolders
from benchwright.catalog.harbor.testing import RunTests, run_tests
from benchwright.engine.protocols import Session
from benchwright.errors import ExecutionError
from benchwright.records import Outcome, Sample, Status, Trial

COPIED_ARTIFACTS = "brought"
"""Key of the outcome's artifact that lists the files copied to the container of the tests."""


class TaskSolver:
    """The solver for all tasks given as folders. Its outcomes contain every command and each test run."""

    def __init__(
        self,
        environments: TaskContainerStarter,
        folders: TaskFolders,
        options: AgentOptions,
        tests: RunTests = run_tests,
        parsers: Mapping[str, LogParser] | None = None,
        multiplier: float = 1.0,
        *,
        sealed: bool = False,
    ) -> None:
        """Set up the solver.

        `parsers`: functions that read the logs of tests that write no rewards. `multiplier`: factor for all
        time limits.
        """
        self._hiding = ScriptHider() if sealed else None
        self._environments = environments
        self._folders = folders
        self._options = options
        self._tests = tests
        self._parsers = parsers or {}
        self._multiplier = multiplier

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Let the model work on a task, test the result, and return the outcome.

        Raises:
            ExecutionError: If the task uses something unsupported, or its containers cannot be started or
                prepared, or were ended from outside.
        """
        sample = trial.sample
        settings = settings_of(sample)
        if settings.problem is not None:
            raise ExecutionError(settings.problem)
        settings = scale_time_limits(settings, self._multiplier)
        folder = self._folders[sample.content["task"]]
        async with AsyncExitStack() as stack:
            proxy = None
            if needs_proxy(self._environments.rules, settings):
                proxy = await stack.enter_async_context(self._environments.containers.create_proxy())
            attempt = Attempt(
                *(self._environments, self._options, self._tests, session, sample, settings, folder),
                parser=self._parsers.get(settings.parser),
                hiding=self._hiding,
                proxy=proxy,
            )
            attempted = await attempt.run()
        outcome = self._outcome(sample, settings, attempted)
        if proxy is None:
            return outcome
        texts = [text for run in attempted.step_runs for text in read_test_texts(folder, run.step)]
        named = [*instructions_of(sample), *texts]
        passed = bool(build_verdict(sample.content["settings"], outcome.artifacts, self._parsers).score)
        begun = have_tests_started(attempted.step_runs[-1].suite_result.log)
        return with_traffic(outcome, proxy.traffic, named, begun=begun, passed=passed)

    def _outcome(self, sample: Sample, settings: TaskSettings, attempted: TrialRun) -> Outcome:
        runs = attempted.step_runs
        limited = next(
            (run for run in runs if run.agent_result.status != Status.ANSWERED), runs[-1]
        ).agent_result
        tests = msgspec.to_builtins(runs[-1].suite_result)
        commands = [command for run in runs for command in run.agent_result.artifacts.get("commands", ())]
        worked = runs[-1].agent_result.artifacts
        artifacts = {**worked, "commands": commands, TESTS: tests, "image": attempted.image}
        artifacts |= attempted.leaks.artifacts
        if settings.steps[0].name:
            artifacts[STEPS] = [
                {"name": run.step.name, "tests": msgspec.to_builtins(run.suite_result)} for run in runs
            ]
        if reruns := [run.seal[RERUN] for run in runs if RERUN in run.seal]:
            artifacts[RERUN] = reruns[-1]
        flags = [flag for run in runs for flag in run.seal.get(FLAGS_KEY, ())]
        if self._hiding is not None and grade(tests, self._parsers.get(settings.parser)).score:
            flags += msgspec.to_builtins(compare_with_gold(sample, tests.get("log", "")))
        if flags:
            artifacts[FLAGS_KEY] = flags
        if brought := [one for run in runs for one in run.copied_artifacts]:
            artifacts[COPIED_ARTIFACTS] = msgspec.to_builtins(brought)
        status, reason = limited.status, limited.reason
        if problem := network_failure_reason(tests, self._parsers.get(settings.parser)):
            status, reason = Status.EXECUTION_ERROR, problem
        messages = [message for run in runs for message in run.agent_result.messages]
        return Outcome(status, messages, runs[-1].agent_result.answer, reason, artifacts=artifacts)


def network_failure_reason(tests: Mapping[str, Any], parser: LogParser | None) -> str | None:
    """Return the reason if the tests failed because their setup needed a network. Such a failure is no verdict.

    Return None otherwise.
    """
    if tests.get("ended") != "exited" or grade(tests, parser).score:
        return None
    line = find_network_failure(tests.get("log", ""))
    return setup_failure_message(line) if line else None
