"""Agents that work in a container: the built-in shell agent, or a command-line agent with its own loop."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any, Protocol

import msgspec

from benchwright.catalog.asking import system, user
from benchwright.catalog.containers.agent import (
    CONTAINER_END_REASONS,
    SYSTEM_PROMPT,
    AgentLimits,
    AgentResult,
    CommandFormat,
    run_shell_agent,
)
from benchwright.catalog.containers.bash_session import BashSession
from benchwright.catalog.containers.terminus import DEPARTURES, Terminus
from benchwright.endpoint.relay import Relay
from benchwright.engine.agent_requests import AgentAccess
from benchwright.engine.answers import answer_status
from benchwright.engine.protocols import Session
from benchwright.recipes.container_launch import (
    RELAY_BASE_URL,
    RELAY_SOCKET,
    ContainerAgent,
    collecting_command,
    container_agent,
    launch_command,
)
from benchwright.recipes.launch_specs import ModelAccess, build_launch_spec
from benchwright.recipes.recipe import Recipe
from benchwright.records import Status
from benchwright.sandbox.docker import ExecResult, Sandbox

DEFAULT_AGENT_SECONDS = 6 * 3600.0
"""Time limit in seconds for an agent whose task sets none."""
MAX_OUTPUT_BYTES = 256 * 1024
MAX_RECORDS_BYTES = 16 * 1024 * 1024
MAX_COLLECT_SECONDS = 60.0


class TaskAgent(Protocol):
    """An agent that works on a task in a container. The sandbox must be started with the agent's `mounts`."""

    @property
    def mounts(self) -> Mapping[str, str]:
        """Host folders that the sandbox must mount, keyed by their path in the sandbox."""
        ...

    async def run(
        self, session: Session, sandbox: Sandbox, task: str, limits: AgentLimits, *, apart: bool = False
    ) -> AgentResult:
        """Work until the task is done or a limit is reached. In both cases, the result is graded.

        `apart`: True to start with the image's directory and environment, whatever was done in the sandbox
        before.

        Raises:
            ProviderError: If the endpoint failed, after retries.
            ExecutionError: If the container was ended from outside, or the agent did not work at all.
        """
        ...


class ShellAgent:
    """The built-in shell agent: runs a model's commands one after another in one terminal.

    `commands`: how the model sends its commands.
    """

    def __init__(self, commands: CommandFormat) -> None:
        self.mounts: Mapping[str, str] = {}
        self._commands = commands

    async def run(
        self, session: Session, sandbox: Sandbox, task: str, limits: AgentLimits, *, apart: bool = False
    ) -> AgentResult:
        """Work on a task, see `TaskAgent.run`. The outcome's artifact `commands` is the transcript."""
        bash = BashSession(sandbox, apart=apart)
        worked = await run_shell_agent(
            session, bash, [system(SYSTEM_PROMPT), user(task)], limits, self._commands
        )
        return msgspec.structs.replace(worked, artifacts={"commands": msgspec.to_builtins(bash.commands)})


class CommandLineAgent:
    """A command-line agent that runs in the sandbox.

    It reaches the model through the socket of the relay, Benchwright's own proxy for model requests.
    """

    def __init__(self, recipe: Recipe, agent: ContainerAgent, relay: Relay) -> None:
        self.mounts: Mapping[str, str] = agent.mounts
        self._recipe = recipe
        self._launch = agent.launch_words
        self._relay = relay

    async def run(
        self, session: Session, sandbox: Sandbox, task: str, limits: AgentLimits, *, apart: bool = False
    ) -> AgentResult:
        """Work on a task, see `TaskAgent.run`.

        The outcome's artifacts are `agent` (the agent's label), `output` and `stderr` (the text that the
        agent printed), and `records` (the files in which the agent recorded its work, keyed by name).
        """
        home = f"/tmp/.benchwright-{token_hex(6)}"
        async with session.relay(self._relay) as calls:
            way = ModelAccess(RELAY_BASE_URL, calls.token, calls.model)
            argv, given = launch_command(build_launch_spec(self._recipe, self._launch, task, way, home))
            session.progress(f"{self._recipe.title} is at work")
            seconds = limits.total_seconds or DEFAULT_AGENT_SECONDS
            running = sandbox.run(argv, seconds=seconds, stdin=given, kept_bytes=MAX_OUTPUT_BYTES)
            ended = await calls.run_within_limits(running)
        artifacts: dict[str, Any] = {"agent": self._recipe.label, **_said(ended)}
        if ended is None or not ended.container_ended:
            artifacts["records"] = await self._records(sandbox, home)
        return _work(ended, calls, artifacts, seconds)

    async def _records(self, sandbox: Sandbox, home: str) -> dict[str, str]:
        if not self._recipe.records:
            return {}
        argv = collecting_command(home, self._recipe.records)
        ended = await sandbox.run(
            argv, seconds=MAX_COLLECT_SECONDS, kept_bytes=MAX_RECORDS_BYTES, output_bytes=MAX_RECORDS_BYTES
        )
        try:
            return msgspec.json.decode(ended.stdout, type=dict[str, str])
        except msgspec.DecodeError:
            return {}


@asynccontextmanager
async def open_command_line_agent(recipe: Recipe) -> AsyncIterator[TaskAgent]:
    """Prepare a command-line agent and its relay (proxy for model requests) for a run. Remove both on exit.

    Raises:
        UserError: If the agent is not installed, does not run in containers, or needs something that this
            machine lacks.
    """
    if recipe.loop == "terminus":
        yield Terminus(recipe, container_agent(recipe, Path()))
        return
    with _folder_for_all() as folder:
        agent = container_agent(recipe, folder)
        async with Relay(socket=folder / RELAY_SOCKET) as relay:
            yield CommandLineAgent(recipe, agent, relay)


def terminus_departures(recipe: Recipe, turns: int) -> tuple[str, ...]:
    """Return how Benchwright's own implementation of an agent differs from the original, one text per difference.

    Only Terminus has such an implementation; the result is empty for other agents. The turn limit `turns` is
    a difference if it is stricter than the original's.
    """
    if recipe.loop != "terminus":
        return ()
    limited = f"Terminus has {turns:,} turns, Terminus 2 as many as it likes within its time"
    return (*DEPARTURES, limited) if recipe.turns is None or turns < recipe.turns else DEPARTURES


@contextmanager
def _folder_for_all() -> Iterator[Path]:
    """Create a temporary folder that every user can read, because containers may run as another user."""
    with tempfile.TemporaryDirectory(prefix="benchwright-relay-") as place:
        folder = Path(place)
        folder.chmod(0o755)
        yield folder


def _said(ended: ExecResult | None) -> dict[str, str]:
    said = {} if ended is None else {"output": ended.stdout, "stderr": ended.stderr}
    return {name: text.decode("utf-8", "replace") for name, text in said.items() if text}


def _work(
    ended: ExecResult | None, calls: AgentAccess, artifacts: dict[str, Any], seconds: float
) -> AgentResult:
    """Return the result of an agent's work. A limit ends the work but not the trial.

    `ended`: how the agent's process ended; None if a limit stopped it. `calls`: the agent's requests to the
    model. If the agent itself failed, there is no answer to grade.
    """
    answer = "" if calls.reply is None else calls.reply.text

    def worked(status: Status, reason: str | None, *, container_ended: bool = False) -> AgentResult:
        return AgentResult(status, calls.messages, answer, reason, container_ended, artifacts)

    if calls.limit_told.is_set():
        return worked(Status.LIMIT, str(calls.ended_by or calls.failure or "a limit was reached"))
    if ended is not None and ended.container_ended:
        return worked(Status.LIMIT, CONTAINER_END_REASONS[ended.reason], container_ended=True)
    if ended is None or ended.reason == "timeout":
        return worked(Status.LIMIT, f"the work took longer than {seconds:g} s")
    if ended.reason != "exited":
        return worked(Status.LIMIT, f"the agent was ended: {ended.reason}")
    if calls.failure is not None:
        raise calls.failure
    if ended.exit_code != 0 or calls.reply is None:
        return worked(Status.EXECUTION_ERROR, _trouble(ended))
    return worked(*answer_status(calls.reply))


def _trouble(ended: ExecResult) -> str:
    lines = ended.stderr.decode("utf-8", "replace").strip().splitlines()
    because = f": {lines[-1].strip()}" if lines else ""
    if ended.exit_code != 0:
        return f"the agent ended with exit status {ended.exit_code}{because}"
    return f"the agent ended without an answer of the model{because}"
