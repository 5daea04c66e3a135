"""Who writes the patch for an issue: an agent in a container, a model in one answer, or a file of predictions.

An author's outcome holds the patch among its artifacts: {"patch": str, "problem": why there is none, "commands":
what an agent ran}. Testing it is the room's own matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from benchwright.catalog.asking import system, user
from benchwright.catalog.containers.agent import SYSTEM, AgentLimits, AgentWork
from benchwright.catalog.containers.benchmark import AgentOptions, Containers
from benchwright.catalog.containers.flags import FLAGS
from benchwright.catalog.containers.patches import WorkTreeChanges, changes, patch_in
from benchwright.catalog.containers.predictions import Predictions
from benchwright.catalog.containers.sealing.history import forget_the_future
from benchwright.catalog.containers.sealing.leaks import Leaks, fixed_copies
from benchwright.engine.answers import answer_status
from benchwright.engine.protocols import Session
from benchwright.errors import ExecutionError
from benchwright.records import Message, Outcome, Record, Sample, Status
from benchwright.sandbox.docker import Sandbox, SandboxSpec

PREPARE_SECONDS = 300.0

NO_PATCH = "the answer holds no patch"


class Issue(Record, frozen=True):
    """An issue, and where it is worked on. `prepare` are commands that bring the work tree to its start; a `sealed` one
    has no later commits then, and its image is searched for copies of what the right patch, `solution`, makes of it."""

    repository: str
    base_commit: str
    text: str
    spec: SandboxSpec
    directory: str
    prepare: str = ""
    sealed: bool = False
    solution: str = ""


class Author(Protocol):
    """Writes patches."""

    async def write(self, sample: Sample, session: Session) -> Outcome:
        """The outcome without tests; see the module."""
        ...


class AgentAuthor:
    """A model that works in the container of the issue until it is done; its patch is what it changed."""

    def __init__(
        self, containers: Containers, issue_of: Callable[[Mapping[str, Any]], Issue], options: AgentOptions
    ) -> None:
        self._sandboxes = containers.sandboxes
        self._player = containers.player(options.commands)
        self._issue_of = issue_of
        self._limits = AgentLimits(options.max_turns, options.command_seconds)
        self._searched: dict[str, Leaks] = {}

    async def write(self, sample: Sample, session: Session) -> Outcome:
        """Lets it work; the container is gone afterwards.

        Raises:
            ExecutionError: the engine does not answer, or the container was ended by somebody else.
        """
        issue = self._issue_of(sample.content)
        spec = msgspec.structs.replace(issue.spec, mounts=self._player.mounts)
        async with self._sandboxes.started(spec, session.progress) as sandbox:
            await _prepare(sandbox, issue)
            leaks = await self._leaks(sandbox, issue)
            task = _AGENT.format(repository=issue.repository, directory=issue.directory, issue=issue.text)
            worked = await self._player.play(session, sandbox, task, self._limits)
            if worked.container_ended:
                made = WorkTreeChanges("", f"the container ended with the work in it: {worked.reason}")
            else:
                made = await changes(sandbox, issue.directory, issue.base_commit)
        outcome = _outcome(worked, made)
        found = {**leaks.artifacts, **({FLAGS: msgspec.to_builtins(leaks.flags)} if leaks.flags else {})}
        return msgspec.structs.replace(outcome, artifacts=outcome.artifacts | found)

    async def _leaks(self, sandbox: Sandbox, issue: Issue) -> Leaks:
        """What the image holds of the solution; every image is searched once."""
        if not issue.sealed:
            return Leaks()
        if issue.spec.image not in self._searched:
            self._searched[issue.spec.image] = await fixed_copies(sandbox, issue.directory, issue.solution)
        return self._searched[issue.spec.image]


class AnswerAuthor:
    """A model that answers once, with a patch."""

    def __init__(self, messages: Callable[[Mapping[str, Any]], list[Message]]) -> None:
        self._messages = messages

    async def write(self, sample: Sample, session: Session) -> Outcome:
        """Asks once."""
        messages = self._messages(sample.content)
        reply = await session.chat(messages)
        status, reason = answer_status(reply)
        patch = patch_in(reply.text)
        return Outcome(
            status,
            [*messages, reply.message],
            reply.text,
            reason,
            artifacts=_artifacts(WorkTreeChanges(patch, None if patch else NO_PATCH)),
        )


class FileAuthor:
    """Predictions that another program made; no model is asked.

    Where the program has written down what was said, its conversation and tokens are those of the trial. As every patch
    is tested, the end of an agent that was not done, for whatever reason, is a limit.
    """

    def __init__(self, predictions: Predictions) -> None:
        self._predictions = predictions

    async def write(self, sample: Sample, session: Session) -> Outcome:
        """The patch of the file."""
        patch = self._predictions.patches.get(sample.id)
        problem = "the predictions have none for this instance" if patch is None else None
        made = WorkTreeChanges(patch or "", problem)
        outcome = Outcome(answer=made.patch, artifacts=_artifacts(made))
        trial = self._predictions.trials.get(sample.id)
        if trial is None:
            return outcome
        status = Status.ANSWERED if trial.status is Status.ANSWERED else Status.LIMIT
        return msgspec.structs.replace(
            outcome, status=status, reason=trial.reason, messages=trial.messages, requests=trial.requests
        )


def one_answer(issue_of: Callable[[Mapping[str, Any]], Issue]) -> AnswerAuthor:
    """The author of patch mode, who is shown the issue and nothing of the repository."""

    def messages(content: Mapping[str, Any]) -> list[Message]:
        issue = issue_of(content)
        return patch_messages(issue.repository, issue.base_commit, issue.text)

    return AnswerAuthor(messages)


async def _prepare(sandbox: Sandbox, issue: Issue) -> None:
    if issue.prepare:
        ended = await sandbox.run(["sh", "-c", issue.prepare], seconds=PREPARE_SECONDS, cwd=issue.directory)
        if not ended.succeeded:
            raise ExecutionError(
                f"{issue.directory} of {issue.spec.image} is not in the expected state: {ended.complaint}"
            )
    if issue.sealed:
        await forget_the_future(sandbox, issue.directory)


def _outcome(worked: AgentWork, made: WorkTreeChanges) -> Outcome:
    artifacts = {**_artifacts(made), **worked.artifacts}
    return Outcome(worked.status, worked.messages, worked.answer, worked.reason, artifacts=artifacts)


def _artifacts(made: WorkTreeChanges) -> dict[str, Any]:
    return {"patch": made.patch, "problem": made.problem, "commands": []}


_AGENT = """\
The repository {repository} lies in {directory}. Resolve this issue by changing its source code:

<issue>
{issue}
</issue>

Find the cause, make the change, and check it by running code or tests. The change must be in the files of \
{directory}, uncommitted or committed: what differs from the start is taken as your patch, new files included. \
Leave existing tests as they are, and remove files that you made only for trying things out. Hidden tests decide \
whether the issue is resolved, and whether everything else still works."""

_PATCH = """\
Resolve this issue of the repository {repository} at commit {commit}:

<issue>
{issue}
</issue>

Answer with one unified diff against that commit, in a block fenced as ```diff, with paths from the root of the \
repository (a/… and b/…). It must apply with `git apply`. Leave tests as they are."""


def agent_messages(repository: str, directory: str, issue: str) -> list[Message]:
    """The start of an agent's conversation."""
    text = _AGENT.format(repository=repository, directory=directory, issue=issue)
    return [system(SYSTEM), user(text)]


def patch_messages(repository: str, commit: str, issue: str) -> list[Message]:
    """The one request of the patch mode."""
    return [user(_PATCH.format(repository=repository, commit=commit, issue=issue))]
