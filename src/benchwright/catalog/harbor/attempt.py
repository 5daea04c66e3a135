"""One trial of a task in its containers: in each step, the agent works, then the tests run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec

from benchwright.catalog.containers import AgentLimits, AgentOptions, AgentResult
from benchwright.catalog.containers.flags import FLAGS_KEY
from benchwright.catalog.containers.sealing.called_programs import read_test_texts, scripts_in
from benchwright.catalog.containers.sealing.leaks import Leaks
from benchwright.catalog.harbor.artifacts import (
    CollectedArtifact,
    CopiedArtifact,
    collect_artifacts,
    copy_artifacts,
)
from benchwright.catalog.harbor.environment import TaskContainers, TaskContainerStarter
from benchwright.catalog.harbor.failing_test import flag_untested_pass, test_file_places
from benchwright.catalog.harbor.grading import LogParser, is_below_minimum, read_rewards
from benchwright.catalog.harbor.health_waiting import wait_until_healthy
from benchwright.catalog.harbor.images import verifier_image_name
from benchwright.catalog.harbor.network_phases import NetworkPhases
from benchwright.catalog.harbor.rows import instructions_of
from benchwright.catalog.harbor.script_hiding import ScriptHider
from benchwright.catalog.harbor.sealed_testing import SealedTests, flag_early_end, score_test_run
from benchwright.catalog.harbor.settings import Step, TaskSettings
from benchwright.catalog.harbor.step_setup import prepare_step
from benchwright.catalog.harbor.testing import RunTests, SuiteResult
from benchwright.engine.protocols import Session
from benchwright.records import Record, Sample
from benchwright.sandbox.egress import EgressProxy
from benchwright.text import one_line

MAX_LINE_LENGTH = 80
"""Maximum number of characters of a message from a build or a pull that are passed on."""


class StepRun(Record, frozen=True):
    """One finished step: the agent's work, the test result, the artifacts copied, and the seal's findings."""

    step: Step
    agent_result: AgentResult
    suite_result: SuiteResult
    copied_artifacts: list[CopiedArtifact] = []
    seal: dict[str, Any] = {}

    @property
    def rewards(self) -> dict[str, float]:
        """The rewards that the tests wrote. Empty if the tests wrote none."""
        return read_rewards(msgspec.to_builtins(self.suite_result))


class TrialRun(Record, frozen=True):
    """Result of a trial: its finished steps, and the solution files found in the image."""

    image: str
    step_runs: list[StepRun]
    leaks: Leaks = Leaks()


class Attempt:
    """One trial: its containers, and the steps so far.

    `hiding`: searches the image and hides solutions. The trial is sealed if `hiding` is not None. `parser`:
    reads the logs of tests that write no rewards.
    """

    def __init__(
        self,
        environments: TaskContainerStarter,
        options: AgentOptions,
        tests: RunTests,
        session: Session,
        sample: Sample,
        settings: TaskSettings,
        folder: Path,
        *,
        parser: LogParser | None,
        hiding: ScriptHider | None,
        proxy: EgressProxy | None,
    ) -> None:
        self._phases = NetworkPhases(environments, settings, folder, proxy)
        self._parser = parser
        self._hiding = hiding
        self._leaks = Leaks()
        self._environments = environments
        self._options = options
        self._player = environments.containers.select_agent(options.commands)
        self._tests = tests
        self._session = session
        self._sample = sample
        self._settings = settings
        self._folder = folder
        self._stack = AsyncExitStack()
        self._runs: list[StepRun] = []

    async def run(self) -> TrialRun:
        """Run the steps, and return the finished steps.

        Stop after a step whose reward is below its minimum, or whose container has ended.

        Raises:
            ExecutionError: If a container cannot be started or prepared, or was ended from outside.
        """
        settings = self._settings
        async with self._stack:
            started = self._environments.start(
                *(self._sample.id, self._folder, settings, self._say),
                mounts=self._player.mounts,
                exit=self._phases.exit,
            )
            place = await self._stack.enter_async_context(started)
            if settings.health is not None:
                self._say("waiting for the health check")
                await wait_until_healthy(place.sandbox, settings.health)
            if self._hiding is not None:
                self._leaks = await self._hiding.hide(place, self._folder, settings)
            for step, instruction in zip(settings.steps, instructions_of(self._sample), strict=True):
                run = await self._step(place, step, instruction)
                if (
                    run.agent_result.container_ended
                    or not run.rewards
                    or is_below_minimum(run.rewards, step.least)
                ):
                    break
        return TrialRun(place.image, self._runs, self._leaks)

    async def _step(self, place: TaskContainers, step: Step, instruction: str) -> StepRun:
        await prepare_step(place, self._folder, step, after=self._runs[-1].step if self._runs else None)
        worked = await self._work(place, step, instruction)
        if worked.container_ended:
            run = StepRun(step, worked, SuiteResult("container_ended", reason=worked.reason))
        else:
            self._say(f"running the tests of {step.name}" if step.name else "running the tests")
            run = await self._tested(place, step, instruction, worked)
        self._runs.append(run)
        return run

    async def _work(self, place: TaskContainers, step: Step, instruction: str) -> AgentResult:
        await self._phases.enter_agent_phase(place, step, instruction)
        limits = AgentLimits(self._options.max_turns, self._options.command_seconds, step.agent_seconds)
        sandbox = place.user_sandbox(step.agent_user)
        return await self._player.run(self._session, sandbox, instruction, limits, apart=bool(self._runs))

    async def _tested(
        self, place: TaskContainers, step: Step, instruction: str, worked: AgentResult
    ) -> StepRun:
        """Run the tests and return the finished step.

        The tests run in the agent's container, in a sealed container next to it, or in a separate container.
        If this is the last step, the agent's container is removed before a separate container is started.
        """
        over = step.verifier is not None and step is self._settings.steps[-1]
        taken = await collect_artifacts(place, step, over=over)
        if step.verifier is None:
            exit = await self._phases.enter_test_phase(
                place, step, instruction, sealed=self._hiding is not None
            )
            if self._hiding is None:
                return StepRun(step, worked, await self._tests(place, self._folder, step))
            containers = self._environments.containers
            asked = (place, self._folder, step, instruction)
            sealed = SealedTests(containers, self._tests, *asked, self._parser, exit=exit, leaks=self._leaks)
            tests, seal = await sealed.run(self._say)
            if exit is not None:
                await exit.close()
            return StepRun(step, worked, tests, seal=seal)
        if over:
            await self._stack.aclose()
        return await self._tested_elsewhere(step, step.verifier, instruction, worked, taken, over=over)

    async def _tested_elsewhere(
        self,
        step: Step,
        verifier: TaskSettings,
        instruction: str,
        worked: AgentResult,
        taken: Sequence[CollectedArtifact],
        *,
        over: bool,
    ) -> StepRun:
        """Run the tests in a separate container, and return the finished step.

        Under a seal, the tests of a passing step run again with a failing test added.
        """
        name = verifier_image_name(self._sample.id, self._settings, step)

        async def test(
            folder: Path, step: Step, taken: Sequence[CollectedArtifact]
        ) -> tuple[SuiteResult, list[CopiedArtifact]]:
            exit = self._phases.verifier_egress(verifier, step, instruction)
            started = self._environments.start(
                name, self._folder, verifier, self._say, beside=not over, exit=exit
            )
            async with started as other:
                brought = await copy_artifacts(other, taken)
                return await self._tests(other, folder, step), brought

        async def score_of(folder: Path, step: Step, with_work: bool) -> float:
            return score_test_run((await test(folder, step, taken if with_work else ()))[0], self._parser)

        tests, brought = await test(self._folder, step, taken)
        seal: dict[str, Any] = {}
        if self._hiding is not None and (passed := score_test_run(tests, self._parser)):
            flags = flag_early_end(
                tests, scripts_in(read_test_texts(self._folder, test_file_places(self._folder, step)))
            )
            if not flags:
                self._say("running the tests with one that fails")
                flags = await flag_untested_pass(self._folder, step, passed, score_of)
            seal = {FLAGS_KEY: msgspec.to_builtins(flags)} if flags else {}
        return StepRun(step, worked, tests, brought, seal)

    def _say(self, said: str) -> None:
        self._session.progress(one_line(said, MAX_LINE_LENGTH))
