"""How a model is asked to resolve an issue of a repository: with a terminal in it, or by a patch in one answer."""

from __future__ import annotations

from benchwright.catalog.asking import system, user
from benchwright.catalog.containers.agent import SYSTEM
from benchwright.records import Message

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
