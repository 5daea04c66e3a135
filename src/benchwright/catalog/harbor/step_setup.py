"""Prepares a task's container for a step: files, setup, health check."""

from __future__ import annotations

from pathlib import Path

from benchwright.catalog.harbor.environment import LOGS_FOLDER, TESTS_FOLDER, TaskContainers
from benchwright.catalog.harbor.health_waiting import wait_until_healthy
from benchwright.catalog.harbor.settings import Step
from benchwright.errors import ExecutionError
from benchwright.sandbox.docker import DockerSandbox
from benchwright.sandbox.docker.copy_tree import make_folder, write_into_folder
from benchwright.text import one_line

SETUP_SECONDS = 600.0
CLEARING_SECONDS = 60.0
MAX_MESSAGE_CHARACTERS = 200


async def prepare_step(place: TaskContainers, folder: Path, step: Step, after: Step | None) -> None:
    """Prepare a step in the same way as Harbor. Do nothing if the task has no steps.

    `after`: the previous step; None for the first. The tests and rewards that the previous step left in this
    container are removed, so that the agent does not find them.

    Raises:
        ExecutionError: If the setup or the health check failed, or the engine does not respond.
    """
    if not step.name:
        return
    if after is not None:
        left = [
            f"{LOGS_FOLDER}/agent",
            *([TESTS_FOLDER, f"{LOGS_FOLDER}/verifier"] if after.verifier is None else []),
        ]
        await place.root_sandbox.run(["rm", "-rf", *left], seconds=CLEARING_SECONDS)
        for log in ("agent", "verifier"):
            await make_folder(place.root_sandbox, f"{LOGS_FOLDER}/{log}", 0o777)
    sandbox = place.user_sandbox(step.agent_user)
    files = folder / "steps" / step.name / "workdir"
    if files.is_dir():
        directory = await _directory(sandbox)
        await write_into_folder(place.root_sandbox, [files], directory)
        if (files / "setup.sh").is_file():
            await _set_up(sandbox, f"{directory.rstrip('/')}/setup.sh", step.name)
    if step.health is not None:
        await wait_until_healthy(sandbox, step.health)


async def _directory(sandbox: DockerSandbox) -> str:
    ended = await sandbox.run(["sh", "-c", "pwd"], seconds=CLEARING_SECONDS)
    directory = ended.stdout.decode("utf-8", "replace").strip()
    return directory if directory.startswith("/") else "/"


async def _set_up(sandbox: DockerSandbox, script: str, step: str) -> None:
    ended = await sandbox.run(["bash", script], seconds=SETUP_SECONDS)
    if ended.reason != "exited" or ended.exit_code:
        said = one_line((ended.stdout + ended.stderr).decode("utf-8", "replace"), MAX_MESSAGE_CHARACTERS)
        raise ExecutionError(f"setup.sh of {step} ended with {ended.exit_code} ({ended.reason}): {said}")
