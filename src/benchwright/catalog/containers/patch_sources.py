"""Authors of the patch for an issue: an agent in a container, a model with one response, a predictions file.

An author's outcome has the artifacts {"patch": str, "problem": the reason why there is no patch, "commands":
the agent's commands}. Each benchmark tests the patch itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from benchwright.catalog.asking import system, user
from benchwright.catalog.containers.agent import SYSTEM_PROMPT, AgentLimits, AgentResult
from benchwright.catalog.containers.benchmark import AgentOptions, Containers
from benchwright.catalog.containers.flags import FLAGS_KEY
from benchwright.catalog.containers.patches import WorkTreeChanges, diff_work_tree, find_patch
from benchwright.catalog.containers.predictions import Predictions
from benchwright.catalog.containers.sealing.commit_removal import remove_later_commits
from benchwright.catalog.containers.sealing.leaks import Leaks, find_fixed_copies
from benchwright.engine.answers import answer_status
from benchwright.engine.protocols import Session
from benchwright.errors import ExecutionError
from benchwright.records import Message, Outcome, Record, Sample, Status
from benchwright.sandbox.docker import Sandbox, SandboxSpec

PREPARE_SECONDS = 300.0

NO_PATCH_REASON = "the answer holds no patch"


class Issue(Record, frozen=True):
    """A repository issue to resolve, and the container in which to work on it.

    - `setup_commands`: shell commands that bring the work tree to its initial state.
    - `sealed`: True to remove later commits before the agent begins, and to search the image for files that
      contain the fix.
    - `gold_patch`: the right patch, by whose lines such files are recognised.
    """

    repository: str
    base_commit: str
    text: str
    sandbox_spec: SandboxSpec
    directory: str
    setup_commands: str = ""
    sealed: bool = False
    gold_patch: str = ""


class PatchSource(Protocol):
    """A source of patches: an agent, a model, or a file."""

    async def obtain_patch(self, sample: Sample, session: Session) -> Outcome:
        """Return the outcome with the patch, before any test. The module's docstring lists its artifacts."""
        ...


class AgentPatchSource:
    """An author whose model works in the issue's container until it is done.

    The patch is the difference between the work tree and its initial state.
    """

    def __init__(
        self, containers: Containers, issue_of: Callable[[Mapping[str, Any]], Issue], options: AgentOptions
    ) -> None:
        self._sandboxes = containers.sandboxes
        self._player = containers.select_agent(options.commands)
        self._issue_of = issue_of
        self._limits = AgentLimits(options.max_turns, options.command_seconds)
        self._searched: dict[str, Leaks] = {}

    async def obtain_patch(self, sample: Sample, session: Session) -> Outcome:
        """Start the container, let the agent work, and return its patch. Remove the container afterwards.

        Raises:
            ExecutionError: If the engine does not respond, or the container was ended from outside.
        """
        issue = self._issue_of(sample.content)
        spec = msgspec.structs.replace(issue.sandbox_spec, mounts=self._player.mounts)
        async with self._sandboxes.start(spec, session.progress) as sandbox:
            await _prepare(sandbox, issue)
            leaks = await self._leaks(sandbox, issue)
            task = _AGENT.format(repository=issue.repository, directory=issue.directory, issue=issue.text)
            worked = await self._player.run(session, sandbox, task, self._limits)
            if worked.container_ended:
                made = WorkTreeChanges("", f"the container ended with the work in it: {worked.reason}")
            else:
                made = await diff_work_tree(sandbox, issue.directory, issue.base_commit)
        outcome = _outcome(worked, made)
        found = {**leaks.artifacts, **({FLAGS_KEY: msgspec.to_builtins(leaks.flags)} if leaks.flags else {})}
        return msgspec.structs.replace(outcome, artifacts=outcome.artifacts | found)

    async def _leaks(self, sandbox: Sandbox, issue: Issue) -> Leaks:
        """Return the files in the image that reveal the solution. Each image is searched only once."""
        if not issue.sealed:
            return Leaks()
        if issue.sandbox_spec.image not in self._searched:
            self._searched[issue.sandbox_spec.image] = await find_fixed_copies(
                sandbox, issue.directory, issue.gold_patch
            )
        return self._searched[issue.sandbox_spec.image]


class AnswerPatchSource:
    """An author whose model sends the patch in a single response."""

    def __init__(self, messages: Callable[[Mapping[str, Any]], list[Message]]) -> None:
        self._messages = messages

    async def obtain_patch(self, sample: Sample, session: Session) -> Outcome:
        """Send one request, and return the outcome with the patch from the response."""
        messages = self._messages(sample.content)
        reply = await session.chat(messages)
        status, reason = answer_status(reply)
        patch = find_patch(reply.text)
        return Outcome(
            status,
            [*messages, reply.message],
            reply.text,
            reason,
            artifacts=_artifacts(WorkTreeChanges(patch, None if patch else NO_PATCH_REASON)),
        )


class PredictionPatchSource:
    """An author that returns predictions (patches) made by another program. No model is asked.

    If that program recorded its conversations, the trial gets their messages and token counts. If an agent
    did not finish, for whatever reason, the status is `limit`, because its patch is tested nevertheless.
    """

    def __init__(self, predictions: Predictions) -> None:
        self._predictions = predictions

    async def obtain_patch(self, sample: Sample, session: Session) -> Outcome:
        """Return the outcome with the patch that the predictions file contains for this sample."""
        patch = self._predictions.patches.get(sample.id)
        problem = "the predictions have none for this instance" if patch is None else None
        made = WorkTreeChanges(patch or "", problem)
        outcome = Outcome(answer=made.patch, artifacts=_artifacts(made))
        trial = self._predictions.foreign_trials.get(sample.id)
        if trial is None:
            return outcome
        status = Status.ANSWERED if trial.status is Status.ANSWERED else Status.LIMIT
        return msgspec.structs.replace(
            outcome, status=status, reason=trial.reason, messages=trial.messages, requests=trial.requests
        )


def answer_patch_source(issue_of: Callable[[Mapping[str, Any]], Issue]) -> AnswerPatchSource:
    """Return the author for patch mode, in which a model sends the patch in a single response.

    The model sees the issue, but nothing from the repository.
    """

    def messages(content: Mapping[str, Any]) -> list[Message]:
        issue = issue_of(content)
        return patch_messages(issue.repository, issue.base_commit, issue.text)

    return AnswerPatchSource(messages)


async def _prepare(sandbox: Sandbox, issue: Issue) -> None:
    if issue.setup_commands:
        ended = await sandbox.run(
            ["sh", "-c", issue.setup_commands], seconds=PREPARE_SECONDS, cwd=issue.directory
        )
        if not ended.succeeded:
            raise ExecutionError(
                f"{issue.directory} of {issue.sandbox_spec.image} is not in the expected state: {ended.error_line}"
            )
    if issue.sealed:
        await remove_later_commits(sandbox, issue.directory)


def _outcome(worked: AgentResult, made: WorkTreeChanges) -> Outcome:
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
    """Build the first messages of an agent's conversation."""
    text = _AGENT.format(repository=repository, directory=directory, issue=issue)
    return [system(SYSTEM_PROMPT), user(text)]


def patch_messages(repository: str, commit: str, issue: str) -> list[Message]:
    """Build the messages of the request in patch mode, in which a model sends the patch in a single response."""
    return [user(_PATCH.format(repository=repository, commit=commit, issue=issue))]
