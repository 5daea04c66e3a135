"""Runs the tests of a step where its agent cannot reach them; then again without what the agent did to their tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchwright.catalog.containers.benchmark import Containers
from benchwright.catalog.containers.flags import FLAGS, Flag
from benchwright.catalog.containers.sealing.leaks import Leaks
from benchwright.catalog.containers.sealing.tools import changed_tools
from benchwright.catalog.containers.sealing.verifier import OWN_PROCESSES, NothingStarts, Verifier
from benchwright.catalog.containers.way_out import Exit
from benchwright.catalog.harbor.environment import Place
from benchwright.catalog.harbor.grading import Parser, grade
from benchwright.catalog.harbor.hiding import put_back
from benchwright.catalog.harbor.settings import Step
from benchwright.catalog.harbor.testing import DESTROYED, RunTests, SuiteResult
from benchwright.sandbox.docker.images import configuration_of
from benchwright.sandbox.docker.snapshots import Change
from benchwright.text import Say

SEALED = "sealed: tests run where agents cannot reach them, in a snapshot that shares the agent's network"
"""How it differs from the official protocols."""

DEPENDS, RERUN = "verdict_depends_on_changed_tools", "rerun"
NAMED = 8
"""Changes that are named one by one."""


class SealedTests:
    """The tests of a step in a container that was the agent's; `instruction` is what the agent was asked, and `leaks`
    what was hidden from it."""

    def __init__(
        self,
        containers: Containers,
        tests: RunTests,
        place: Place,
        folder: Path,
        step: Step,
        instruction: str,
        parser: Parser | None,
        *,
        exit: Exit | None,
        leaks: Leaks,
    ) -> None:
        """`exit` is that of the tests, None where they share the network of the agent's container."""
        self._exit = exit
        self._leaks = leaks
        self._engine = containers.engine
        own = OWN_PROCESSES + (exit is not None)
        self._verifier = Verifier(containers, place.sandbox.container, place.spec, own)
        self._tests = tests
        self._place = place
        self._folder = folder
        self._step = step
        self._instruction = instruction
        self._parser = parser

    async def run(self, say: Say) -> tuple[SuiteResult, dict[str, Any]]:
        """What came of them, and what the seal adds to the artifacts.

        A failure is tested once more while processes of the agent go on: what they wrote during the tests is in the
        second snapshot.

        Raises:
            EngineError: a container cannot be started, or the engine does not answer.
        """
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
        left_out = _in_words(tools)
        artifacts: dict[str, Any] = {RERUN: {"left_out": left_out, "score": without}}
        if without < score:
            evidence = f"the score is {without:g} without these changes: {left_out}"
            artifacts[FLAGS] = [msgspec.to_builtins(Flag(DEPENDS, evidence))]
        return tested, artifacts

    async def _tested(self, without: Sequence[Change] = ()) -> SuiteResult:
        try:
            async with self._verifier.started(without) as sandbox:
                place = self._place.at(sandbox, {})
                if self._exit is not None:
                    place = self._place.at(sandbox, await self._exit.beside(place.as_root))
                await put_back(place.as_root, self._leaks, self._folder)
                return await self._tests(place, self._folder, self._step)
        except NothingStarts as gone:
            return SuiteResult(DESTROYED, reason=str(gone))

    async def _changed_tools(self) -> list[Change]:
        changes = await self._verifier.changes()
        configuration = await configuration_of(self._engine, self._place.image) or {}
        directory = self._place.spec.directory or configuration.get("WorkingDir") or "/"
        return changed_tools(changes, self._instruction, directory)

    def _score(self, tested: SuiteResult) -> float:
        return grade(msgspec.to_builtins(tested), self._parser).score or 0.0


def _in_words(tools: Sequence[Change]) -> str:
    """The changes, compiled files last: Python writes those by itself."""
    ordered = sorted(tools, key=lambda change: (change.path.endswith((".pyc", "__pycache__")), change.path))
    words = ", ".join(f"{change.kind} {change.path}" for change in ordered[:NAMED])
    return f"{words} and {len(tools) - NAMED} more" if len(tools) > NAMED else words
