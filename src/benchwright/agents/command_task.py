"""Agents that are programs. Such a program reads the row as JSON on stdin, and prints an answer.

The program finds the model's address in the environment variable OPENAI_BASE_URL.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from benchwright.agents.external_agent_task import AgentAnswer, ExternalAgentTask, read_answer
from benchwright.agents.program_running import LeftoverProcesses, ProgramResult, run_program
from benchwright.data.rows import Row
from benchwright.endpoint.serving.listener import LOOPBACK_HOST
from benchwright.engine.agent_requests import AgentAccess
from benchwright.engine.protocols import Scorer
from benchwright.errors import UserError
from benchwright.records import DECODE_ERRORS, Trial
from benchwright.runs.keys import fingerprint
from benchwright.runs.source_fingerprints import source_fingerprint
from benchwright.secrets import SECRETS

_encode = msgspec.json.Encoder().encode


def command_task(
    path: Path,
    command: str,
    scorers: Sequence[Scorer],
    *,
    limit: int | None = None,
    offset: int = 0,
    group_by: str | None = None,
) -> ExternalAgentTask:
    """Return the task of an agent that is a program. `command`: the program with its arguments.

    Raises:
        UserError: If the command cannot be parsed, or its program is not found.
    """
    return ExternalAgentTask(
        path, CommandAgent(command), scorers, limit=limit, offset=offset, group_by=group_by
    )


class CommandAgent:
    """Agent that starts a program once per row.

    `command` is split as a shell would split it, but run without a shell. The fingerprint covers the command
    and every file that the command names by a path. For a Python file, it also covers what the file imports
    from the user's own project. A program found on the PATH is identified by its name only.

    Raises:
        UserError: If the command cannot be parsed, or its program is not found.
    """

    def __init__(self, command: str) -> None:
        self._arguments = _split(command)
        program, *scripts = (Path(argument) for argument in self._arguments)
        self.name = next((script.stem for script in scripts if script.is_file()), program.stem)
        sources = [source_fingerprint(file) for file in (program, *scripts) if file.is_file()]
        self.fingerprint = fingerprint(self._arguments, sources)

    async def run(self, row: Row, trial: Trial, calls: AgentAccess) -> AgentAnswer:
        """Run the program for a row. The program's output is the answer, or a JSON object with `answer` and `messages`.

        An exit status other than 0 is a failure. The last line on stderr describes the failure.

        Raises:
            ExecutionError: If the program cannot be started, prints too much, or prints an invalid answer
                object.
        """
        environment = program_environment(os.environ, trial, calls)
        left: list[LeftoverProcesses] = []
        ended = await run_program(self._arguments, _encode(row) + b"\n", environment, on_left=left.append)
        artifacts = {"stderr": ended.stderr} if ended.stderr else {}
        failed = AgentAnswer(failure=describe_failure(ended)) if ended.exit_status else None
        answer = failed or _read_output(ended.output)
        return msgspec.structs.replace(answer, artifacts=artifacts, notes=list(map(str, left)))


def program_environment(environ: Mapping[str, str], trial: Trial, calls: AgentAccess) -> dict[str, str]:
    """Return the environment variables of an agent's program.

    They are the variables of this process without secrets, and the relay's address and token.
    """
    kept = {
        name: value
        for name, value in environ.items()
        if name != "BENCHWRIGHT_API_KEY" and SECRETS.redact(value) == value
    }
    direct = [*filter(None, [kept.get("no_proxy") or kept.get("NO_PROXY")]), LOOPBACK_HOST]
    return kept | {
        **calls.environment(),
        "BENCHWRIGHT_TRIAL": trial.key,
        "NO_PROXY": ",".join(direct),
        "no_proxy": ",".join(direct),
    }


def _split(command: str) -> list[str]:
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise UserError(f"The agent's command cannot be read: {error}: {command}") from None
    if not arguments:
        raise UserError("The agent's command is empty.")
    if shutil.which(arguments[0]) is None:
        raise UserError(
            f"The agent's program {arguments[0]!r} is not found or not executable; give its path or a name on the PATH."
        )
    return arguments


def _read_output(output: bytes) -> AgentAnswer:
    text = output.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        try:
            value = msgspec.json.decode(text)
        except DECODE_ERRORS:
            return AgentAnswer(text)
        if "answer" in value or "messages" in value:
            return read_answer(value)
    return AgentAnswer(text)


def describe_failure(ended: ProgramResult) -> str:
    """Describe the failure of a program that ended with a nonzero exit status."""
    lines = ended.stderr.strip().splitlines()
    told = f": {lines[-1].strip()}" if lines else ""
    if ended.exit_status < 0:
        return f"the program was killed by {signal.Signals(-ended.exit_status).name}{told}"
    return f"the program ended with exit status {ended.exit_status}{told}"
