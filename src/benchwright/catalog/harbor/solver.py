"""Solves a task: step by step the model works until it is done or a limit ends it, then the tests are run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec

from benchwright.catalog.asking import system, user
from benchwright.catalog.containers import SYSTEM, AgentLimits, AgentOptions, AgentWork, BashSession, work
from benchwright.catalog.containers.network_failures import network_failure, setup_failed
from benchwright.catalog.harbor.artifacts import Brought, bring, take
from benchwright.catalog.harbor.environment import Environments, Place
from benchwright.catalog.harbor.folders import TaskFolders
from benchwright.catalog.harbor.grading import STEPS, TESTS, Parser, falls_short, grade, rewards_of
from benchwright.catalog.harbor.health import until_ready
from benchwright.catalog.harbor.images import name_of_verifier
from benchwright.catalog.harbor.preparing import prepare
from benchwright.catalog.harbor.rows import instructions_of, settings_of
from benchwright.catalog.harbor.settings import Settings, Step, multiplied
from benchwright.catalog.harbor.testing import SuiteResult, run_tests
from benchwright.engine.protocols import Session
from benchwright.errors import ExecutionError
from benchwright.records import Outcome, Record, Sample, Status, Trial
from benchwright.text import one_line

BROUGHT = "brought"
"""The artifact of an outcome in which stands what was brought to the tests."""

LONGEST_LINE = 80
"""Characters of what a build or a pull says that are shown."""

RunTests = Callable[[Place, Path, Step], Awaitable[SuiteResult]]
"""Runs the tests of a step, which lie in the task's folder, in a container."""


class TaskSolver:
    """The agent of all tasks as folders; what it makes of a trial holds every command and each run of tests."""

    def __init__(
        self,
        environments: Environments,
        folders: TaskFolders,
        options: AgentOptions,
        tests: RunTests = run_tests,
        parsers: Mapping[str, Parser] | None = None,
        multiplier: float = 1.0,
    ) -> None:
        """`parsers` read the logs of tests that write no rewards; all limits in time are multiplied."""
        self._environments = environments
        self._folders = folders
        self._options = options
        self._tests = tests
        self._parsers = parsers or {}
        self._multiplier = multiplier

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Lets the model work on a task, and tests what it did.

        Raises:
            ExecutionError: the task asks for what cannot be done here, its containers cannot be started or got ready,
                or they were ended by somebody else.
        """
        sample = trial.sample
        settings = settings_of(sample)
        if settings.problem is not None:
            raise ExecutionError(settings.problem)
        settings = multiplied(settings, self._multiplier)
        folder = self._folders[sample.content["task"]]
        attempt = _Attempt(self._environments, self._options, self._tests, session, sample, settings, folder)
        return self._outcome(settings, await attempt.go())

    def _outcome(self, settings: Settings, attempted: Attempted) -> Outcome:
        runs = attempted.runs
        limited = next((run for run in runs if run.worked.status != Status.ANSWERED), runs[-1]).worked
        tests = msgspec.to_builtins(runs[-1].tests)
        artifacts = {"commands": attempted.commands, TESTS: tests, "image": attempted.image}
        if settings.steps[0].name:
            artifacts[STEPS] = [
                {"name": run.step.name, "tests": msgspec.to_builtins(run.tests)} for run in runs
            ]
        if brought := [one for run in runs for one in run.brought]:
            artifacts[BROUGHT] = msgspec.to_builtins(brought)
        status, reason = limited.status, limited.reason
        if problem := no_network(tests, self._parsers.get(settings.parser)):
            status, reason = Status.EXECUTION_ERROR, problem
        messages = [message for run in runs for message in run.worked.messages]
        return Outcome(status, messages, runs[-1].worked.answer, reason, artifacts=artifacts)


def no_network(tests: Mapping[str, Any], parser: Parser | None) -> str | None:
    """Why tests that did not pass say nothing, where they could not be set up without the network."""
    if tests.get("ended") != "exited" or grade(tests, parser).score:
        return None
    line = network_failure(tests.get("log", ""))
    return setup_failed(line) if line else None


class StepRun(Record, frozen=True):
    """One step that was worked on: the agent's work, its tests, and what of it was brought to them."""

    step: Step
    worked: AgentWork
    tests: SuiteResult
    brought: list[Brought] = []

    @property
    def rewards(self) -> dict[str, float]:
        """What its tests wrote; nothing where they did not."""
        return rewards_of(msgspec.to_builtins(self.tests))


class Attempted(Record, frozen=True):
    """What came of a trial in its containers: every step that was worked on, and every command."""

    image: str
    runs: list[StepRun]
    commands: list[dict[str, Any]]


class _Attempt:
    """One trial: its containers, and the steps so far."""

    def __init__(
        self,
        environments: Environments,
        options: AgentOptions,
        tests: RunTests,
        session: Session,
        sample: Sample,
        settings: Settings,
        folder: Path,
    ) -> None:
        self._environments = environments
        self._options = options
        self._tests = tests
        self._session = session
        self._sample = sample
        self._settings = settings
        self._folder = folder
        self._stack = AsyncExitStack()
        self._runs: list[StepRun] = []
        self._commands: list[dict[str, Any]] = []

    async def go(self) -> Attempted:
        settings = self._settings
        async with self._stack:
            place = await self._stack.enter_async_context(
                self._environments.started(self._sample.id, self._folder, settings, self._say)
            )
            if settings.health is not None:
                self._say("waiting for the health check")
                await until_ready(place.sandbox, settings.health)
            for step, instruction in zip(settings.steps, instructions_of(self._sample), strict=True):
                run = await self._step(place, step, instruction)
                if run.worked.container_ended or not run.rewards or falls_short(run.rewards, step.least):
                    break
        return Attempted(place.image, self._runs, self._commands)

    async def _step(self, place: Place, step: Step, instruction: str) -> StepRun:
        await prepare(place, self._folder, step, after=self._runs[-1].step if self._runs else None)
        worked = await self._work(place, step, instruction)
        if worked.container_ended:
            tests, brought = SuiteResult("container_ended", reason=worked.reason), list[Brought]()
        else:
            self._session.progress(f"running the tests{step.name and ' of '}{step.name}")
            tests, brought = await self._test(place, step)
        self._runs.append(StepRun(step, worked, tests, brought))
        return self._runs[-1]

    async def _work(self, place: Place, step: Step, instruction: str) -> AgentWork:
        await self._environments.set_network(place, self._settings, step.agent_network)
        bash = BashSession(place.as_user(step.agent_user), apart=bool(self._runs))
        limits = AgentLimits(self._options.max_turns, self._options.command_seconds, step.agent_seconds)
        messages = [system(SYSTEM), user(instruction)]
        try:
            return await work(self._session, bash, messages, limits, self._options.commands)
        finally:
            self._commands += msgspec.to_builtins(bash.commands)

    async def _test(self, place: Place, step: Step) -> tuple[SuiteResult, list[Brought]]:
        """Runs the tests in the agent's container, or in one of their own; there the agent's is gone, if it was the
        last step.
        """
        over = step.verifier is not None and step is self._settings.steps[-1]
        taken = await take(place, step, over=over)
        if step.verifier is None:
            await self._environments.set_network(place, self._settings, step.test_network)
            return await self._tests(place, self._folder, step), []
        if over:
            await self._stack.aclose()
        name = name_of_verifier(self._sample.id, self._settings, step)
        started = self._environments.started(name, self._folder, step.verifier, self._say, beside=not over)
        async with started as other:
            brought = await bring(other, taken)
            return await self._tests(other, self._folder, step), brought

    def _say(self, said: str) -> None:
        self._session.progress(one_line(said, LONGEST_LINE))
