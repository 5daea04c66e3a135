"""Solver of SWE-bench Pro: lets an author write a patch, and tests it in a separate container."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec

from benchwright.catalog.containers import Containers
from benchwright.catalog.containers.egress import Egress, open_tests_egress, start_sandbox
from benchwright.catalog.containers.flags import Flag, flags_of
from benchwright.catalog.containers.gold_tallies import compare_with_gold
from benchwright.catalog.containers.network_rules import NetworkRules
from benchwright.catalog.containers.patch_sources import Issue, PatchSource
from benchwright.catalog.containers.sealing.failing_tests import flag_untested_pass
from benchwright.catalog.containers.sealing.patch_auditing import (
    audit_patch,
    find_outside_path,
    refused_patch_artifacts,
)
from benchwright.catalog.containers.traffic import with_traffic
from benchwright.catalog.swe_bench_pro.grading import flag_printed_elsewhere, grade
from benchwright.catalog.swe_bench_pro.result_parsing import REPOSITORY_DIRECTORY
from benchwright.catalog.swe_bench_pro.testing import MAX_LOG_BYTES, MAX_LOG_FILE_BYTES, run_tests
from benchwright.engine.protocols import Session
from benchwright.records import Outcome, Record, Sample, Trial
from benchwright.sandbox.docker import Resources, Sandbox, SandboxSpec
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
"""Capabilities of the containers, all of which are among Docker's defaults.

Servers and test runners need them when scripts start them as other users.
"""


class ContainerConfig(Record, frozen=True):
    """Limits and network of the benchmark's containers. The defaults are those of Scale AI's own harness.

    The defaults are up to 30 GiB, four cores, and for the tests a network and one hour (SWE-bench_Pro-os
    0875a8a, swe_bench_pro_eval.py). The `network_rules` decide on the network and on the seal.
    """

    memory_gib: int = 30
    network_rules: NetworkRules = NetworkRules(sealed=True)
    test_seconds: int = 3600

    def sandbox_spec(self, image: str, *, network: bool) -> SandboxSpec:
        """Return the sandbox spec for an instance's container. The author's container has no network."""
        resources = Resources(self.memory_gib * GiB, cpus=4.0, processes=2048, disk_bytes=4 * GiB)
        return SandboxSpec(
            image,
            REPOSITORY_DIRECTORY,
            read_only=False,
            has_network=network,
            resources=resources,
            capabilities=CAPABILITIES,
        )

    def build_issue(self, content: Mapping[str, Any]) -> Issue:
        """Build the issue that the author of the patch gets. The work tree is at the commit before the fix."""
        base = content["base_commit"]
        return Issue(
            content["repo"],
            base,
            content["issue"],
            self.sandbox_spec(content["image"], network=False),
            REPOSITORY_DIRECTORY,
            setup_commands=f"git reset --hard {base} && git checkout {base}",
            sealed=self.network_rules.sealed,
            gold_patch=content["patch"],
        )


class PatchTester:
    """A solver that tests an author's patch. The author's container is removed before tests start."""

    def __init__(self, containers: Containers, author: PatchSource, room: ContainerConfig) -> None:
        self._containers = containers
        self._author = author
        self._room = room

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Return the author's outcome, with the test results added.

        Raises:
            ExecutionError: If the engine does not respond, or a container was ended from outside.
        """
        outcome = await self._author.obtain_patch(trial.sample, session)
        if outcome.artifacts["problem"]:
            return outcome
        patch = outcome.artifacts["patch"]
        if self._room.network_rules.sealed and (outside := find_outside_path(patch)):
            problem = f"the patch reaches out of {REPOSITORY_DIRECTORY}: {outside}"
            artifacts = {**outcome.artifacts, "problem": problem, **refused_patch_artifacts(outside)}
        else:
            return await self._tried(trial.sample, outcome, session)
        return msgspec.structs.replace(outcome, artifacts=artifacts)

    async def _tried(self, sample: Sample, outcome: Outcome, session: Session) -> Outcome:
        rules, content = self._room.network_rules, sample.content
        async with open_tests_egress(self._containers, rules, filtered=rules.uses_proxy([True])) as exit:
            found = await self._tested(sample, outcome, session, exit)
        outcome = msgspec.structs.replace(outcome, artifacts={**outcome.artifacts, **found})
        if exit is None:
            return outcome
        passed = grade(content, found).score == 1.0
        # Tested code runs before the first result and could keep tests from beginning, so tests count as
        # begun.
        return with_traffic(outcome, exit.connection_log, [content["test_patch"]], begun=True, passed=passed)

    async def _tested(
        self, sample: Sample, outcome: Outcome, session: Session, exit: Egress | None
    ) -> dict[str, Any]:
        """Return the test results and the seal's artifacts. The artifacts include the outcome's earlier flags."""
        content, patch, flags = sample.content, outcome.artifacts["patch"], flags_of(outcome)
        image, sealed = content["image"], self._room.network_rules.sealed
        sandboxes = self._containers.sandboxes

        def reader() -> AbstractAsyncContextManager[Sandbox]:
            return sandboxes.start_sharing_network(self._room.sandbox_spec(image, network=False))

        async def test(patch: str, added: str = "", kept_log: int = MAX_LOG_BYTES) -> dict[str, Any]:
            spec = self._room.sandbox_spec(image, network=self._room.network_rules.has_network(True))
            async with start_sandbox(exit, sandboxes, spec, session.progress) as sandbox:
                session.progress("tests")
                how = (sandbox, content, patch, self._room.test_seconds, reader if sealed else None)
                tests = await run_tests(*how, added=added, kept_log=kept_log)
            return {"patch": patch, "tests": msgspec.to_builtins(tests)}

        async def passes(patch: str) -> bool:
            return grade(content, await test(patch)).score == 1.0

        async def test_with(patch: str, added: str) -> tuple[bool, str]:
            tested = await test(patch, added, MAX_LOG_FILE_BYTES)
            return grade(content, tested).score == 1.0, tested["tests"]["log"]

        async def when_clean() -> list[Flag]:
            gold, tests = content["patch"], content["test_patch"]
            return await flag_untested_pass(
                patch, gold=gold, test_patch=tests, directory=REPOSITORY_DIRECTORY, test=test_with
            )

        tested = await test(patch)
        if not sealed:
            return tested
        passed = grade(content, tested).score == 1.0
        if passed:
            log = tested["tests"]["log"]
            flags = [*flags, *flag_printed_elsewhere(content, tested), *compare_with_gold(sample, log)]
        return tested | await audit_patch(
            patch, passed=passed, passes=passes, flags=flags, when_clean=when_clean
        )
