"""Runs a task's tests where its agent cannot reach them; then again without what the agent did to their tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchwright.catalog.containers.benchmark import Containers
from benchwright.catalog.containers.flags import FLAGS, Flag
from benchwright.catalog.containers.sealing.tools import changed_tools
from benchwright.catalog.containers.sealing.verifier import NothingStarts, Verifier
from benchwright.catalog.terminal_bench.environment import Place
from benchwright.catalog.terminal_bench.grading import grade
from benchwright.catalog.terminal_bench.settings import Settings
from benchwright.catalog.terminal_bench.testing import DESTROYED, SuiteResult, run_tests
from benchwright.sandbox.docker.images import configuration_of
from benchwright.sandbox.docker.snapshots import Change
from benchwright.text import Say

SEALED = "sealed: tests run where agents cannot reach them, in a snapshot that shares the agent's network"
"""How it differs from the official protocols."""

DEPENDS, RERUN = "verdict_depends_on_changed_tools", "rerun"
TOLD = 8
"""Changes that are named one by one."""


class SealedTests:
    """The tests of one trial; `instruction` is what the agent was asked."""

    def __init__(
        self, containers: Containers, place: Place, folder: Path, settings: Settings, instruction: str
    ) -> None:
        self._engine = containers.engine
        self._verifier = Verifier(containers, place.sandbox.container, place.spec)
        self._place = place
        self._folder = folder
        self._settings = settings
        self._instruction = instruction

    async def run(self, say: Say) -> tuple[SuiteResult, dict[str, Any]]:
        """What came of them, and what the seal adds to the artifacts.

        A failure is tested once more while processes of the agent go on: what they wrote during the tests is in the
        second snapshot.

        Raises:
            EngineError: a container cannot be started, or the engine does not answer.
        """
        say("running the tests")
        tested = await self._tested()
        if not self._score(tested) and await self._verifier.agent_is_at_work():
            say("running the tests again")
            tested = await self._tested()
        score = self._score(tested)
        tools = await self._changed_tools() if score else []
        if not tools:
            return tested, {}
        say("running the tests without changed tools")
        without = self._score(await self._tested(tools))
        left_out = _told(tools)
        artifacts: dict[str, Any] = {RERUN: {"left_out": left_out, "score": without}}
        if without < score:
            evidence = f"the score is {without:g} without these changes: {left_out}"
            artifacts[FLAGS] = [msgspec.to_builtins(Flag(DEPENDS, evidence))]
        return tested, artifacts

    async def _tested(self, without: Sequence[Change] = ()) -> SuiteResult:
        if self._settings.same_shell and not without:
            return await run_tests(self._place, self._folder, self._settings)
        try:
            async with self._verifier.started(without) as sandbox:
                return await run_tests(self._place.at(sandbox), self._folder, self._settings)
        except NothingStarts as gone:
            return SuiteResult(DESTROYED, reason=str(gone))

    async def _changed_tools(self) -> list[Change]:
        changes = await self._verifier.changes()
        configuration = await configuration_of(self._engine, self._place.image) or {}
        directory = self._settings.directory or configuration.get("WorkingDir") or "/"
        return changed_tools(changes, self._instruction, directory)

    def _score(self, tested: SuiteResult) -> float:
        return grade(self._settings.parser, msgspec.to_builtins(tested)).score or 0.0


def _told(tools: Sequence[Change]) -> str:
    """The changes in words, compiled files last: Python writes those by itself."""
    ordered = sorted(tools, key=lambda change: (change.path.endswith((".pyc", "__pycache__")), change.path))
    told = ", ".join(f"{change.kind} {change.path}" for change in ordered[:TOLD])
    return f"{told} and {len(tools) - TOLD} more" if len(tools) > TOLD else told
