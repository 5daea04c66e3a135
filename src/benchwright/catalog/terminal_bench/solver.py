"""Solves a task: the model works in its container until it is done or a limit ends it, then the tests are run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from benchwright.catalog.asking import system, user
from benchwright.catalog.containers import SYSTEM, AgentLimits, AgentOptions, BashSession, work
from benchwright.catalog.containers.network_failures import network_failure, setup_failed
from benchwright.catalog.terminal_bench.environment import Environments, Place
from benchwright.catalog.terminal_bench.folders import TaskFolders
from benchwright.catalog.terminal_bench.grading import TESTS, grade
from benchwright.catalog.terminal_bench.rows import settings_of
from benchwright.catalog.terminal_bench.sealed_testing import SealedTests
from benchwright.catalog.terminal_bench.settings import Settings
from benchwright.catalog.terminal_bench.testing import SuiteResult, run_tests
from benchwright.engine.protocols import Session
from benchwright.errors import ExecutionError
from benchwright.records import Outcome, Status, Trial
from benchwright.text import one_line

LONGEST_LINE = 80
"""Characters of what a build or a pull says that are shown."""


class TerminalSolver:
    """The agent of both layouts; what it makes of a trial holds every command and the run of the tests."""

    def __init__(
        self, environments: Environments, folders: TaskFolders, options: AgentOptions, *, sealed: bool
    ) -> None:
        self._sealed = sealed
        self._environments = environments
        self._folders = folders
        self._options = options

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Lets the model work on a task, and tests what it did.

        Raises:
            ExecutionError: the task asks for what cannot be done here, its containers cannot be started, or they were
                ended by somebody else.
        """
        sample = trial.sample
        settings = settings_of(sample)
        if settings.problem is not None:
            raise ExecutionError(settings.problem)
        folder = self._folders[sample.content["task"]]

        def say(said: str) -> None:
            session.progress(one_line(said, LONGEST_LINE))

        async with self._environments.started(sample.id, folder, settings, say) as place:
            bash = BashSession(place.sandbox)
            messages = [system(SYSTEM), user(sample.content["instruction"])]
            limits = self._limits(settings)
            worked = await work(session, bash, messages, limits, self._options.commands)
            found: dict[str, Any] = {}
            if worked.container_ended:
                tested = SuiteResult("container_ended", reason=worked.reason)
            elif self._sealed:
                tests = SealedTests(
                    self._environments.containers, place, folder, settings, sample.content["instruction"]
                )
                tested, found = await tests.run(session.progress)
            else:
                session.progress("running the tests")
                tested = await run_tests(place, folder, settings)
            artifacts = _artifacts(place, bash, tested) | found
        if problem := _no_network(settings, artifacts[TESTS]):
            return Outcome(
                Status.EXECUTION_ERROR, worked.messages, worked.answer, problem, artifacts=artifacts
            )
        return Outcome(worked.status, worked.messages, worked.answer, worked.reason, artifacts=artifacts)

    def _limits(self, settings: Settings) -> AgentLimits:
        return AgentLimits(self._options.max_turns, self._options.command_seconds, settings.agent_seconds)


def _no_network(settings: Settings, tests: Mapping[str, Any]) -> str | None:
    """Why tests that did not pass say nothing, where they could not be set up."""
    if tests.get("ended") != "exited" or grade(settings.parser, tests).score:
        return None
    line = network_failure(tests.get("log", ""))
    return setup_failed(line) if line else None


def _artifacts(place: Place, bash: BashSession, tested: SuiteResult) -> dict[str, Any]:
    commands = msgspec.to_builtins(bash.commands)
    return {"commands": commands, TESTS: msgspec.to_builtins(tested), "image": place.image}
