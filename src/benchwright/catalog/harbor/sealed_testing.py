"""Runs the tests of a step where the agent cannot reach them, and checks a pass by further runs.

After a pass, the tests run again without the agent's changes to the tools of the tests. They also run again
with a failing test added.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchwright.catalog.containers.bash_session import new_state_directory
from benchwright.catalog.containers.benchmark import Containers
from benchwright.catalog.containers.egress import Egress
from benchwright.catalog.containers.flags import FLAGS_KEY, Flag
from benchwright.catalog.containers.sealing.called_programs import read_test_texts, scripts_in
from benchwright.catalog.containers.sealing.leaks import Leaks
from benchwright.catalog.containers.sealing.verifier import OWN_PROCESS_COUNT, NoProgramStartsError, Verifier
from benchwright.catalog.harbor.environment import TaskContainers
from benchwright.catalog.harbor.failing_test import flag_untested_pass, test_file_places
from benchwright.catalog.harbor.grading import LogParser, grade
from benchwright.catalog.harbor.script_hiding import restore_scripts
from benchwright.catalog.harbor.settings import Step
from benchwright.catalog.harbor.testing import (
    CONTAINER_DESTROYED_ENDING,
    RunTests,
    SuiteResult,
    find_ending_signal,
)
from benchwright.catalog.harbor.tool_changes import ToolChangeFinder, ToolChanges
from benchwright.sandbox.docker import DockerSandbox
from benchwright.sandbox.docker.images import image_configuration
from benchwright.sandbox.docker.time_limits import extend_limits_if_busy
from benchwright.text import Say

SEALED_DEPARTURE = (
    "sealed: tests run where agents cannot reach them, in a snapshot that shares the agent's network"
)
"""The departure of sealed tests from the official protocols."""

DEPENDS, RERUN = "verdict_depends_on_changed_tools", "rerun"
EARLY_END_FLAG = "tests_ended_by_a_signal"


class SealedTests:
    """The tests of a step, run in a snapshot of the agent's container.

    `instruction`: the agent's instruction. `leaks`: the files that were hidden from the agent.
    """

    def __init__(
        self,
        containers: Containers,
        tests: RunTests,
        place: TaskContainers,
        folder: Path,
        step: Step,
        instruction: str,
        parser: LogParser | None,
        *,
        exit: Egress | None,
        leaks: Leaks,
    ) -> None:
        """Prepare the tests. `exit`: the tests' network access; None if the tests share the agent's network."""
        self._exit = exit
        self._leaks = leaks
        self._engine = containers.engine
        own = OWN_PROCESS_COUNT + (exit is not None)
        self._verifier = Verifier(containers, place.sandbox.container, place.spec, own)
        self._tests = tests
        self._place = place
        self._folder = folder
        self._step = step
        self._instruction = instruction
        self._parser = parser
        self._texts = read_test_texts(folder, test_file_places(folder, step))

    async def run(self, say: Say) -> tuple[SuiteResult, dict[str, Any]]:
        """Run the tests, and return their result with the seal's artifacts.

        If the tests fail while processes of the agent are still running, they run once more in a second
        snapshot. That snapshot contains the files that these processes wrote during the first run.

        Raises:
            EngineError: If a container cannot be started, or the engine does not respond.
        """
        tested = await self._tested()
        if not self._score(tested) and await self._verifier.is_agent_running():
            say("running the tests again")
            tested = await self._tested()
        score = self._score(tested)
        if not score:
            return tested, {}
        flags = flag_early_end(tested, scripts_in(self._texts))
        artifacts: dict[str, Any] = {}
        if tools := await self._changed_tools():
            say("running the tests without changed tools")
            with extend_limits_if_busy():
                without = self._score(await self._tested(tools))
            artifacts[RERUN] = {"left_out": tools.description, "score": without}
            if without < score:
                evidence = f"the score is {without:g} without these changes: {tools.description}"
                flags.append(Flag(DEPENDS, evidence))
        if not flags:
            say("running the tests with one that fails")
            flags += await flag_untested_pass(self._folder, self._step, score, self._score_of)
        if flags:
            artifacts[FLAGS_KEY] = msgspec.to_builtins(flags)
        return tested, artifacts

    async def _tested(self, without: ToolChanges | None = None) -> SuiteResult:
        without = without or ToolChanges()
        try:
            async with self._verifier.start(without.changes) as sandbox:
                place = await self._place_of_tests(sandbox)
                if (terminal := await without.write_clean_terminal(place.root_sandbox)) is not None:
                    place = msgspec.structs.replace(place, terminal_directory=terminal)
                return await self._tests(place, self._folder, self._step)
        except NoProgramStartsError as gone:
            return SuiteResult(CONTAINER_DESTROYED_ENDING, reason=str(gone))

    async def _place_of_tests(self, sandbox: DockerSandbox) -> TaskContainers:
        place = self._place.for_container(sandbox, {})
        if self._exit is not None:
            place = self._place.for_container(
                sandbox, await self._exit.start_second_forwarder(place.root_sandbox)
            )
        await restore_scripts(place.root_sandbox, self._leaks, self._folder)
        return place

    async def _score_of(self, folder: Path, step: Step, with_work: bool) -> float:
        """Return the score by the tests in another folder. Return 0 if no program starts in the agent's container.

        `with_work`: True for a snapshot with the agent's work, False for the original image.
        """
        started = self._verifier.start() if with_work else self._verifier.start_original()
        try:
            async with started as sandbox:
                place = await self._place_of_tests(sandbox)
                if not with_work:
                    place = msgspec.structs.replace(place, terminal_directory=new_state_directory())
                return self._score(await self._tests(place, folder, step))
        except NoProgramStartsError:
            return 0.0

    async def _changed_tools(self) -> ToolChanges:
        configuration = await image_configuration(self._engine, self._place.image) or {}
        directory = self._place.spec.directory or configuration.get("WorkingDir") or "/"
        own = {**_environment(configuration), **self._place.spec.environment}
        what = (own, directory, self._texts, self._step, self._instruction)
        return await ToolChangeFinder(self._verifier, self._place, *what).find_changes()

    def _score(self, tested: SuiteResult) -> float:
        return score_test_run(tested, self._parser)


def score_test_run(tested: SuiteResult, parser: LogParser | None) -> float:
    """Return the score of one test run. Return 0 if the run has no score."""
    return grade(msgspec.to_builtins(tested), parser).score or 0.0


def flag_early_end(tested: SuiteResult, scripts: str) -> list[Flag]:
    """Return a flag if a signal ended the tests' script early. Return nothing otherwise."""
    signal = find_ending_signal(tested, scripts)
    return [] if signal is None else [Flag(EARLY_END_FLAG, f"signal {signal} ended the script of the tests")]


def _environment(configuration: Mapping[str, Any]) -> dict[str, str]:
    """Return the environment variables of an image."""
    return dict(one.split("=", 1) for one in configuration.get("Env") or () if "=" in one)
