"""Solves a task: the model works in its container until it is done or a limit ends it, then the tests are run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from benchwright.catalog.containers import AgentLimits, AgentOptions, AgentWork
from benchwright.catalog.containers.network_failures import network_failure, setup_failed
from benchwright.catalog.harbor.environment import Environments, Place
from benchwright.catalog.harbor.folders import TaskFolders
from benchwright.catalog.harbor.grading import TESTS, grade
from benchwright.catalog.harbor.rows import settings_of
from benchwright.catalog.harbor.settings import Settings
from benchwright.catalog.harbor.testing import SuiteResult, run_tests
from benchwright.engine.protocols import Session
from benchwright.errors import ExecutionError
from benchwright.records import Outcome, Status, Trial
from benchwright.text import one_line

LONGEST_LINE = 80
"""Characters of what a build or a pull says that are shown."""


class TerminalSolver:
    """The agent of both layouts; what it makes of a trial holds every command and the run of the tests."""

    def __init__(self, environments: Environments, folders: TaskFolders, options: AgentOptions) -> None:
        self._environments = environments
        self._folders = folders
        self._options = options
        self._player = environments.containers.player(options.commands)

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
            instruction, limits = sample.content["instruction"], self._limits(settings)
            worked = await self._player.play(session, place.sandbox, instruction, limits)
            if worked.container_ended:
                tested = SuiteResult("container_ended", reason=worked.reason)
            else:
                session.progress("running the tests")
                tested = await run_tests(place, folder, settings)
            artifacts = _artifacts(place, worked, tested)
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


def _artifacts(place: Place, worked: AgentWork, tested: SuiteResult) -> dict[str, Any]:
    return {"commands": [], **worked.artifacts, TESTS: msgspec.to_builtins(tested), "image": place.image}
