"""Tests an instance: applies the patch in a fresh container, then runs the test script there."""

from __future__ import annotations

from collections.abc import Mapping

from benchwright.catalog.containers import Containers
from benchwright.catalog.containers.egress import Egress, start_sandbox
from benchwright.catalog.swe_bench.edition import Edition, InstanceContent
from benchwright.catalog.swe_bench.instance_script import (
    APPLY_FAILED_MARK,
    ERRORED_MARK,
    REPOSITORY_DIRECTORY,
    TIMED_OUT_MARK,
    insert_lines,
)
from benchwright.engine.protocols import Session
from benchwright.records import Record
from benchwright.sandbox.docker import ExecResult, Sandbox, SandboxSpec
from benchwright.sandbox.docker.containers import MiB

TEST_SECONDS = 1800
"""The official harness's time limit in seconds for the tests of one instance."""

MAX_LOG_BYTES = 32 * MiB
"""Maximum size in bytes of a test log. A test run that prints more is ended."""

APPLY_SECONDS = 120.0
PATCH_FILE, EVAL_FILE = "/tmp/patch.diff", "/eval.sh"

_APPLY = f"""cd {REPOSITORY_DIRECTORY} || exit 1
fresh() {{ git checkout -- . ; git clean -fd; }}
git apply --verbose {PATCH_FILE} && exit
fresh; git apply --verbose --3way {PATCH_FILE} && exit
fresh; git apply --verbose --reject {PATCH_FILE} && exit
fresh; patch --batch --forward --fuzz=5 -p1 -i {PATCH_FILE} && exit
git apply --check --reverse {PATCH_FILE}
"""
"""Shell script of the official harness (5.0) that applies a patch.

It tries several commands, each on an unchanged work tree.
"""


class SuiteResult(Record, frozen=True):
    """Result of a test run.

    `ended`: `exited`, or the limit that ended the run. The log's last line states that limit, too.
    """

    log: str
    ended: str = "exited"
    seconds: float = 0.0


def sandbox_spec(
    content: InstanceContent, edition: Edition, *, network: bool, environment: Mapping[str, str] | None = None
) -> SandboxSpec:
    """Return the sandbox spec for an instance's container."""
    return SandboxSpec(
        edition.image_name(content),
        directory=REPOSITORY_DIRECTORY,
        read_only=False,
        has_network=network,
        resources=edition.resources,
        environment=environment or {},
        capabilities=edition.capabilities,
    )


async def run_patch_tests(
    containers: Containers,
    session: Session,
    content: InstanceContent,
    patch: str,
    seconds: float,
    edition: Edition,
    *,
    network: bool,
    exit: Egress | None,
    added: str,
) -> SuiteResult:
    """Apply a patch in a fresh container, run the test script, and return the result.

    - `network`: True for network access as in the official harness, where projects are installed again and
      some tests need it.
    - `exit`: filtered network access that replaces `network`; None for no filter.
    - `added`: shell lines that change the tests before they run.

    Reaching a limit of time or output is no error: it is part of the result.

    Raises:
        ExecutionError: If the container was ended from outside, or the network access cannot be set up.
        EngineError: If the image is not available, or the engine does not respond.
    """
    spec = sandbox_spec(content, edition, network=network)
    async with start_sandbox(exit, containers.sandboxes, spec, session.progress) as sandbox:
        session.progress("testing the patch")
        script = insert_lines(edition.test_script(content), added)
        files = {PATCH_FILE: patch.encode("utf-8", "replace"), EVAL_FILE: script.encode()}
        await sandbox.write_files(files)
        applied = await _run(sandbox, _APPLY, APPLY_SECONDS)
        if applied.ended == "exited" and not applied.succeeded:
            return SuiteResult(f"{APPLY_FAILED_MARK}:\n{applied.text}", seconds=applied.seconds)
        if applied.ended != "exited":
            return _limited(applied)
        ran = await _run(sandbox, f"exec /bin/bash {EVAL_FILE}", seconds)
        return SuiteResult(ran.text, seconds=ran.seconds) if ran.ended == "exited" else _limited(ran)


class _Ran(Record, frozen=True):
    ended: str
    succeeded: bool
    text: str
    seconds: float


async def _run(sandbox: Sandbox, commands: str, seconds: float) -> _Ran:
    argv = ["/bin/bash", "-c", f"exec 2>&1 </dev/null\n{commands}"]
    ended: ExecResult = await sandbox.run(
        argv, seconds=seconds, kept_bytes=MAX_LOG_BYTES, output_bytes=MAX_LOG_BYTES
    )
    text = ended.stdout.decode("utf-8", "replace")
    return _Ran(ended.reason, ended.succeeded, text, round(ended.seconds, 3))


def _limited(ran: _Ran) -> SuiteResult:
    mark = TIMED_OUT_MARK if ran.ended == "timeout" else ERRORED_MARK
    return SuiteResult(f"{ran.text}\n{mark}: {ran.ended} after {ran.seconds:.0f} s\n", ran.ended, ran.seconds)
