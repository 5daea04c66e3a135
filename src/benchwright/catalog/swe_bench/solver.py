"""The solver of SWE-bench: an author writes a patch, then the patch is tested in a fresh container."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from benchwright.catalog.asking import user
from benchwright.catalog.containers import Containers
from benchwright.catalog.containers.egress import Egress, open_tests_egress
from benchwright.catalog.containers.flags import Flag, flags_of
from benchwright.catalog.containers.gold_tallies import compare_with_gold
from benchwright.catalog.containers.network_rules import NetworkRules
from benchwright.catalog.containers.patch_sources import Issue, PatchSource
from benchwright.catalog.containers.patches import find_patch
from benchwright.catalog.containers.sealing.failing_tests import flag_untested_pass
from benchwright.catalog.containers.sealing.patch_auditing import (
    audit_patch,
    find_outside_path,
    refused_patch_artifacts,
)
from benchwright.catalog.containers.traffic import with_traffic
from benchwright.catalog.swe_bench.edition import START_REF, Edition, InstanceContent
from benchwright.catalog.swe_bench.grading import PATCH, TESTS, grade_with_flags
from benchwright.catalog.swe_bench.instance_script import (
    APPLY_FAILED_MARK,
    REPOSITORY_DIRECTORY,
    START_MARK,
    find_changed_files,
)
from benchwright.catalog.swe_bench.testing import SuiteResult, run_patch_tests, sandbox_spec
from benchwright.engine.answers import answer_status
from benchwright.engine.protocols import Session
from benchwright.records import Message, Outcome, Sample, Trial
from benchwright.sandbox.docker import Sandbox

READ_SECONDS = 60.0


class PatchTester:
    """A solver that lets an author write a patch, and runs the tests on it. The scorer later reads the test log."""

    def __init__(
        self,
        author: PatchSource,
        containers: Containers,
        seconds: float,
        rules: NetworkRules,
        edition: Edition,
    ) -> None:
        self._author = author
        self._containers = containers
        self._seconds = seconds
        self._rules = rules
        self._edition = edition

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Let the author write the patch and return the outcome. An empty patch is not tested."""
        outcome = await self._author.obtain_patch(trial.sample, session)
        patch = outcome.artifacts[PATCH]
        if not patch.strip():
            return outcome
        content = trial.sample.content
        filtered = self._rules.uses_proxy([True]) and not self._edition.has_unfiltered_network(content)
        async with open_tests_egress(self._containers, self._rules, filtered=filtered) as exit:
            result, found = await self._tested(trial.sample, patch, flags_of(outcome), session, exit)
        artifacts = {**outcome.artifacts, TESTS: msgspec.structs.asdict(result), **found}
        outcome = msgspec.structs.replace(outcome, artifacts=artifacts)
        if exit is None:
            return outcome
        passed = await self._resolves(content, result)
        named = [content["test_patch"]]
        return with_traffic(
            outcome, exit.connection_log, named, begun=START_MARK in result.log, passed=passed
        )

    async def _tested(
        self, sample: Sample, patch: str, flags: Sequence[Flag], session: Session, exit: Egress | None
    ) -> tuple[SuiteResult, dict[str, Any]]:
        """Return the test result and the seal's artifacts. These artifacts include the earlier `flags`."""
        content, network = sample.content, self._rules.has_network(True)

        async def test(patch: str, added: str = "") -> SuiteResult:
            how = (self._containers, session, content, patch, self._seconds, self._edition)
            return await run_patch_tests(*how, network=network, exit=exit, added=added)

        async def passes(patch: str) -> bool:
            return await self._resolves(content, await test(patch))

        async def test_with(patch: str, added: str) -> tuple[bool, str]:
            result = await test(patch, added)
            return await self._resolves(content, result), result.log

        async def when_clean() -> list[Flag]:
            gold, tests = content["patch"], content["test_patch"]
            return await flag_untested_pass(
                patch, gold=gold, test_patch=tests, directory=REPOSITORY_DIRECTORY, test=test_with
            )

        if not self._rules.sealed:
            return await test(patch), {}
        if outside := find_outside_path(patch):
            return SuiteResult(
                f"{APPLY_FAILED_MARK}: it reaches out of {REPOSITORY_DIRECTORY}: {outside}\n"
            ), refused_patch_artifacts(outside)
        result = await test(patch)
        passed = await self._resolves(content, result)
        flags = [*flags, *(compare_with_gold(sample, result.log) if passed else [])]
        runners = self._edition.programs_of_tests(content)
        return result, await audit_patch(
            patch, passed=passed, passes=passes, flags=flags, runners=runners, when_clean=when_clean
        )

    async def _resolves(self, content: InstanceContent, result: SuiteResult) -> bool:
        verdict, _ = await grade_with_flags(content, result.log, self._edition)
        return verdict.score == 1.0


class OracleFilesPatchSource:
    """An author that sees the files which the right patch changes (the oracle setting), and answers once."""

    def __init__(self, containers: Containers, edition: Edition) -> None:
        self._sandboxes = containers.sandboxes
        self._edition = edition

    async def obtain_patch(self, sample: Sample, session: Session) -> Outcome:
        """Send one request with the files that the right patch changes, and return the outcome."""
        content = sample.content
        spec = sandbox_spec(content, self._edition, network=False)
        async with self._sandboxes.start(spec, session.progress) as sandbox:
            readmes = await _texts(sandbox, await _readmes(sandbox))
            files = await _texts(sandbox, find_changed_files(content["patch"]))
        messages = patch_messages(content["problem_statement"], readmes, files)
        reply = await session.chat(messages)
        status, reason = answer_status(reply)
        artifacts = {PATCH: find_patch(reply.text)}
        return Outcome(status, [*messages, reply.message], reply.text, reason, artifacts=artifacts)


def issue_of(content: InstanceContent, edition: Edition, *, sealed: bool) -> Issue:
    """Build the issue (task and container) that an agent gets."""
    return Issue(
        repository=content["repo"],
        base_commit=START_REF,
        text=content["problem_statement"],
        sandbox_spec=sandbox_spec(content, edition, network=False, environment=edition.environment),
        directory=REPOSITORY_DIRECTORY,
        setup_commands=edition.setup_commands,
        sealed=sealed,
        gold_patch=content["patch"],
    )


async def _readmes(sandbox: Sandbox) -> list[str]:
    find = ["find", REPOSITORY_DIRECTORY, "-maxdepth", "1", "-type", "f", "-iname", "readme*"]
    ended = await sandbox.run(find, seconds=READ_SECONDS)
    return [path.rpartition("/")[2] for path in ended.stdout.decode("utf-8", "replace").splitlines()]


async def _texts(sandbox: Sandbox, names: list[str]) -> dict[str, str]:
    return {
        name: (await sandbox.read_file(f"{REPOSITORY_DIRECTORY}/{name}")).decode("utf-8", "replace")
        for name in names
    }


EXAMPLE_PATCH = """\
--- a/file.py
+++ b/file.py
@@ -1,27 +1,35 @@
 def euclidean(a, b):
-    while b:
-        a, b = b, a % b
-    return a
+    if b == 0:
+        return a
+    return euclidean(b, a % b)
 
 
 def bresenham(x0, y0, x1, y1):
     points = []
     dx = abs(x1 - x0)
     dy = abs(y1 - y0)
-    sx = 1 if x0 < x1 else -1
-    sy = 1 if y0 < y1 else -1
-    err = dx - dy
+    x, y = x0, y0
+    sx = -1 if x0 > x1 else 1
+    sy = -1 if y0 > y1 else 1
 
-    while True:
-        points.append((x0, y0))
-        if x0 == x1 and y0 == y1:
-            break
-        e2 = 2 * err
-        if e2 > -dy:
+    if dx > dy:
+        err = dx / 2.0
+        while x != x1:
+            points.append((x, y))
             err -= dy
-            x0 += sx
-        if e2 < dx:
-            err += dx
-            y0 += sy
+            if err < 0:
+                y += sy
+                err += dx
+            x += sx
+    else:
+        err = dy / 2.0
+        while y != y1:
+            points.append((x, y))
+            err -= dx
+            if err < 0:
+                x += sx
+                err += dy
+            y += sy
 
+    points.append((x, y))
     return points"""  # noqa: W293

_PREMISE = (
    "You will be provided with a partial code base and an issue statement explaining a problem to resolve."
)
_EXPLANATION = (
    "Here is an example of a patch file. It consists of changes to the code base. "
    "It specifies the file names, the line numbers of each change, and the removed and added lines. "
    "A single patch file can contain changes to multiple files."
)
_INSTRUCTION = (
    "I need you to solve the provided issue by generating a single patch file that I can apply "
    "directly to this repository using git apply. Please respond with a single patch "
    "file in the format shown above."
)


def patch_messages(issue: str, readmes: Mapping[str, str], files: Mapping[str, str]) -> list[Message]:
    """Build SWE-bench's prompt `style-3`, word for word, so that scores are comparable."""
    lines = [
        *(_PREMISE, "<issue>", issue, "</issue>", "", "<code>", _numbered(readmes), _numbered(files)),
        *(
            "</code>",
            "",
            _EXPLANATION,
            "<patch>",
            EXAMPLE_PATCH,
            "</patch>",
            "",
            _INSTRUCTION,
            "Respond below:",
        ),
    ]
    return [user("\n".join(lines))]


def _numbered(files: Mapping[str, str]) -> str:
    return "\n".join(
        f"[start of {name}]\n{_with_numbers(text)}\n[end of {name}]" for name, text in sorted(files.items())
    )


def _with_numbers(text: str) -> str:
    return "\n".join(f"{number} {line}" for number, line in enumerate(text.split("\n"), 1))
