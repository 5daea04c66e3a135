"""SWE-bench (Verified and full) as llm-benchmarker documents it: one patch, and pytest in python:3.11.

The repository is copied into the container, which has no network.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchwright.catalog.benchmark import About, Benchmark, Check, Options
from benchwright.catalog.containers import ContainerBenchmark, Containers
from benchwright.catalog.containers.benchmark import DEFAULT_MAX_CONTAINERS
from benchwright.catalog.containers.patch_checks import patch_checks
from benchwright.catalog.containers.patch_sources import NO_PATCH_REASON, patch_messages
from benchwright.catalog.containers.patches import apply_patch, find_patch
from benchwright.catalog.containers.test_summaries import summarize_test_lists
from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.catalog.swe_bench.edition import CAPABILITIES
from benchwright.catalog.swe_bench.mirrors import RepositoryMirrors
from benchwright.catalog.swe_bench.rows import FullRow, row_content
from benchwright.data.datasets import Source
from benchwright.engine.answers import answer_status
from benchwright.engine.protocols import Score, Session, Solver
from benchwright.errors import ExecutionError
from benchwright.records import Outcome, Sample, Trial
from benchwright.runs.keys import fingerprint
from benchwright.sandbox.docker import ExecResult, Resources, Sandbox, SandboxSpec
from benchwright.sandbox.docker.containers import GiB
from benchwright.text import last_line

CONTAINER_IMAGE = "python:3.11"
REPOSITORY_DIRECTORY = "/repo"
MAX_PASS_TO_PASS_TESTS = 10
"""Maximum number of an instance's PASS_TO_PASS tests that are run."""
TEST_SECONDS = 1800
"""Time limit in seconds for all tests of an instance together."""
COPY_SECONDS = 300.0
MAX_LOG_BYTES = 8 * 1024

APPLY_COMMANDS = (("git", "apply"), ("sh", "-c", 'git add --all && exec git apply --3way "$0"'))
"""Commands that apply a patch; the second is tried if the first fails.

The second command merges the patch, which requires that earlier changes are in git's index.
"""

_START = """
git init --quiet && git add --all --force &&
git -c user.name=benchwright -c user.email=benchwright@localhost commit --quiet --message start
"""


def make_documented(about: About, options: Options) -> Benchmark:
    """Build the variant of swe_bench or swe_bench_pro that llm-benchmarker documents. `about` states which.

    Raises:
        UserError: If an option has a value that cannot be used.
    """
    image = options.text("image", CONTAINER_IMAGE)
    at_once = options.integer("containers", DEFAULT_MAX_CONTAINERS, 1)
    mirrors = RepositoryMirrors(options.text("repositories"))

    def solver(containers: Containers) -> Solver:
        return PatchAnswerSolver(containers, mirrors, image)

    def checks(sample: Sample) -> Iterator[Check]:
        return patch_checks(sample.content["patch"], "patch")

    return ContainerBenchmark(
        about=about,
        samples=samples,
        solver=solver,
        scorers=(PytestScorer(about.metric),),
        checks=checks,
        max_containers=at_once,
        departures=() if image == CONTAINER_IMAGE else (f"the image {image} in place of {CONTAINER_IMAGE}",),
    )


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per instance, with the instance's id."""
    for row in source.read(FullRow, "test"):
        yield Sample(
            row.instance_id,
            row_content(row),
            labels={"repo": row.repo},
            input=row.problem_statement,
            target=row.patch,
        )


class PatchAnswerSolver:
    """A solver that asks once for a patch. It applies the patch in a copy of the repository, and runs the tests."""

    def __init__(self, containers: Containers, mirrors: RepositoryMirrors, image: str) -> None:
        self._sandboxes = containers.sandboxes
        self._mirrors = mirrors
        resources = Resources(memory_bytes=2 * GiB, cpus=1.0, processes=512, disk_bytes=4 * GiB)
        self._spec = SandboxSpec(image, read_only=False, resources=resources, capabilities=CAPABILITIES)

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Return the outcome. Its artifacts include the patch and the test results.

        Raises:
            ExecutionError: If the repository is not available, the image lacks git or pytest, or the engine
                does not respond.
        """
        content = trial.sample.content
        session.progress(f"repository {content['repo']}")
        archive = await self._mirrors.archive_commit(content["repo"], content["base_commit"])
        async with self._sandboxes.start(self._spec, session.progress) as sandbox:
            await _set_up(sandbox, archive)
            messages = patch_messages(content["repo"], content["base_commit"], content["problem_statement"])
            reply = await session.chat(messages)
            patch = find_patch(reply.text)
            session.progress("tests")
            tests = await _tested(sandbox, content, patch) if patch else {"problem": NO_PATCH_REASON}
        status, reason = answer_status(reply)
        artifacts = {"patch": patch, "tests": tests}
        return Outcome(status, [*messages, reply.message], reply.text, reason, artifacts=artifacts)


class PytestScorer:
    """A scorer that grades by pytest's exit code for each test."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("swe_bench documented", name, "1")

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return the score 1 or 0. There is no score if the answer has no patch."""
        return verdict_score(grade(sample.content, outcome.artifacts))


def grade(content: Mapping[str, Any], artifacts: Mapping[str, Any]) -> Verdict:
    """Return a verdict with score 1 if every test of both lists passed, else 0.

    The lists are FAIL_TO_PASS, and those tests of PASS_TO_PASS that were run.
    """
    tests = artifacts.get("tests") or {}
    problem, passed = tests.get("problem"), tests.get("passed") or {}
    now = {name: bool(passed.get(name)) for name in content["FAIL_TO_PASS"]}
    still = {name: bool(passed.get(name)) for name in content["PASS_TO_PASS"][:MAX_PASS_TO_PASS_TESTS]}
    resolved = not problem and all(now.values()) and all(still.values())
    details = {
        "fail_to_pass_results": now,
        "pass_to_pass_results": still,
        "model_patch": artifacts.get("patch", ""),
    }
    return Verdict(
        None if problem == NO_PATCH_REASON else float(resolved),
        "resolved" if resolved else "not resolved",
        "resolved",
        details=details | ({"error": problem} if problem else {}),
        explanation=problem or summarize_test_lists(now, still),
    )


async def _set_up(sandbox: Sandbox, archive: bytes) -> None:
    await _must(sandbox, ["mkdir", "-p", REPOSITORY_DIRECTORY], "/")
    await _must(sandbox, ["tar", "-x", "-z", "-o", "-f", "-"], REPOSITORY_DIRECTORY, archive)
    await _must(sandbox, ["sh", "-c", _START], REPOSITORY_DIRECTORY)
    await _must(sandbox, ["python", "-m", "pytest", "--version"], "/")


async def _must(sandbox: Sandbox, argv: Sequence[str], directory: str, stdin: bytes = b"") -> None:
    ended = await sandbox.run(argv, seconds=COPY_SECONDS, stdin=stdin, cwd=directory)
    if ended.succeeded:
        return
    said = last_line(_text(ended), 300) or ended.error_line
    advice = "; name an image with git and pytest: --option image=NAME" if ended.reason == "exited" else ""
    raise ExecutionError(f"the container cannot be set up: {said}{advice}")


async def _tested(sandbox: Sandbox, content: Mapping[str, Any], patch: str) -> dict[str, Any]:
    for name, text in (("patch", patch), ("test patch", content["test_patch"])):
        applied = await apply_patch(sandbox, REPOSITORY_DIRECTORY, text, APPLY_COMMANDS)
        if not applied.succeeded:
            return {"problem": f"the {name} cannot be applied", "log": applied.log, "passed": {}}
    names = [*content["FAIL_TO_PASS"], *content["PASS_TO_PASS"][:MAX_PASS_TO_PASS_TESTS]]
    passed: dict[str, bool] = {}
    log = ""
    deadline = time.monotonic() + TEST_SECONDS
    for name in names:
        left = deadline - time.monotonic()
        if left <= 0:
            problem = f"the tests took longer than {TEST_SECONDS} s"
            return {"problem": problem, "log": log, "passed": passed}
        ended = await sandbox.run(
            ["python", "-m", "pytest", "-q", name],
            seconds=left,
            cwd=REPOSITORY_DIRECTORY,
            kept_bytes=MAX_LOG_BYTES,
        )
        if ended.container_ended:
            return {
                "problem": f"the container ended with the tests ({ended.reason})",
                "log": log,
                "passed": passed,
            }
        passed[name] = ended.succeeded
        log = f"{log}{_text(ended)}"[-4 * MAX_LOG_BYTES :]
    return {"problem": None, "log": log, "passed": passed}


def _text(ended: ExecResult) -> str:
    return (ended.stdout + ended.stderr).decode("utf-8", "replace")
