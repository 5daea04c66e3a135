"""Has a patch written, and tests it in a container of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from benchwright.catalog.containers import Containers
from benchwright.catalog.containers.authors import Author, Issue
from benchwright.catalog.containers.network_rules import NetworkRules
from benchwright.catalog.containers.sealing.patches import findings, reaches_out, refused
from benchwright.catalog.containers.traffic import with_traffic
from benchwright.catalog.containers.way_out import Exit, started_with, way_out
from benchwright.catalog.swe_bench_pro.grading import grade
from benchwright.catalog.swe_bench_pro.testing import DIRECTORY, run_tests
from benchwright.engine.protocols import Session
from benchwright.records import Outcome, Record, Trial
from benchwright.sandbox.docker import Resources, SandboxSpec
from benchwright.sandbox.docker.containers import GiB

CAPABILITIES = (
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "SETGID",
    "SETUID",
    "SYS_CHROOT",
    "NET_BIND_SERVICE",
)
"""Those of Docker's own that servers and test runners need which run scripts start as users of their own."""


class Room(Record, frozen=True):
    """What every container of the benchmark gets, by default what Scale AI's own harness gives: up to 30 GiB and four
    cores, a network for the tests, and an hour for them (SWE-bench_Pro-os 0875a8a, swe_bench_pro_eval.py); and what
    becomes of that network, and whether agents are sealed, by the `rules`."""

    memory_gib: int = 30
    rules: NetworkRules = NetworkRules(sealed=True)
    test_seconds: int = 3600

    def spec(self, image: str, *, network: bool) -> SandboxSpec:
        """The container of an instance; whoever writes a patch has no network."""
        resources = Resources(self.memory_gib * GiB, cpus=4.0, processes=2048, disk_bytes=4 * GiB)
        return SandboxSpec(
            image,
            DIRECTORY,
            read_only=False,
            network=network,
            resources=resources,
            capabilities=CAPABILITIES,
        )

    def issue(self, content: Mapping[str, Any]) -> Issue:
        """What an author is given: the work tree at the commit before the fix."""
        base = content["base_commit"]
        return Issue(
            content["repo"],
            base,
            content["issue"],
            self.spec(content["image"], network=False),
            DIRECTORY,
            prepare=f"git reset --hard {base} && git checkout {base}",
            sealed=self.rules.sealed,
        )


class PatchTester:
    """Tests what an author wrote. The author's container is gone before that of the tests is started."""

    def __init__(self, containers: Containers, author: Author, room: Room) -> None:
        self._containers = containers
        self._author = author
        self._room = room

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """The author's outcome, with what came of the tests.

        Raises:
            ExecutionError: the engine does not answer, or a container was ended by somebody else.
        """
        content = trial.sample.content
        outcome = await self._author.write(trial.sample, session)
        if outcome.artifacts["problem"]:
            return outcome
        patch = outcome.artifacts["patch"]
        if self._room.rules.sealed and (outside := reaches_out(patch)):
            problem = f"the patch reaches out of {DIRECTORY}: {outside}"
            artifacts = {**outcome.artifacts, "problem": problem, **refused(outside)}
        else:
            return await self._tried(content, outcome, session)
        return msgspec.structs.replace(outcome, artifacts=artifacts)

    async def _tried(self, content: Mapping[str, Any], outcome: Outcome, session: Session) -> Outcome:
        rules = self._room.rules
        async with way_out(self._containers, rules, filtered=rules.filters([True])) as exit:
            found = await self._tested(content, outcome.artifacts["patch"], session, exit)
        outcome = msgspec.structs.replace(outcome, artifacts={**outcome.artifacts, **found})
        if exit is None:
            return outcome
        begun, passed = bool(found["tests"].get("statuses")), grade(content, found).score == 1.0
        return with_traffic(outcome, exit.traffic, [content["test_patch"]], begun=begun, passed=passed)

    async def _tested(
        self, content: Mapping[str, Any], patch: str, session: Session, exit: Exit | None
    ) -> dict[str, Any]:
        """What came of the tests, and what the seal found."""

        async def test(patch: str) -> dict[str, Any]:
            spec = self._room.spec(content["image"], network=self._room.rules.opens(True))
            async with started_with(exit, self._containers.sandboxes, spec, session.progress) as sandbox:
                session.progress("tests")
                tests = await run_tests(sandbox, content, patch, self._room.test_seconds)
            return {"patch": patch, "tests": msgspec.to_builtins(tests)}

        async def passes(patch: str) -> bool:
            return grade(content, await test(patch)).score == 1.0

        tested = await test(patch)
        if not self._room.rules.sealed:
            return tested
        passed = grade(content, tested).score == 1.0
        return tested | await findings(patch, passed=passed, passes=passes)
