"""Patches: found in an answer, taken from a work tree, freed of binary files, and applied in a container."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchwright.records import Record
from benchwright.sandbox.docker import Sandbox

MAX_PATCH_BYTES = 4 * 1024 * 1024
"""Maximum size in bytes of a patch that is taken from a work tree."""
GIT_SECONDS = 180.0
"""Time limit in seconds for git to list changes, or to apply a patch."""
MAX_LOG_BYTES = 8 * 1024

PATCH_FILE = "/tmp/.benchwright-patch.diff"

APPLY_COMMANDS = (
    ("git", "apply", "--verbose"),
    ("git", "apply", "--verbose", "--reject"),
    ("patch", "--batch", "--fuzz=5", "-p1", "-i"),
)
"""Commands by which SWE-bench's harness applies a model's patch (run_evaluation.py).

They are tried in order until one succeeds.
"""

_FENCE = re.compile(r"^```(\w*)[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
_TAG = re.compile(r"<(patch|diff)>[ \t]*\n?(.*?)</\1>", re.DOTALL)
_RAW = re.compile(r"^(?:diff --git |--- (?:a/|/dev/null|\"a/))", re.MULTILINE)
_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)
_NO_TEXT = re.compile(
    r"^(?:Binary files .* differ|GIT binary patch|(?:new file|new|old|deleted file) mode 160000"
    r"|index [0-9a-f]+\.\.[0-9a-f]+ 160000)$",
    re.MULTILINE,
)

_CHANGES = """
git config --global --add safe.directory "$PWD"
rm -f .git/index.lock
git -c core.fsmonitor=false add --all >/dev/null &&
exec git --no-pager -c core.fsmonitor=false diff --cached --no-color --no-ext-diff --no-textconv \
--src-prefix=a/ --dst-prefix=b/ "$1" --
"""


class WorkTreeChanges(Record, frozen=True):
    """The changes in a work tree, as a patch. `problem`: the reason if no patch could be taken."""

    patch: str
    problem: str | None = None


class PatchResult(Record, frozen=True):
    """The result of applying a patch, with the output of the last command tried."""

    succeeded: bool
    log: str = ""


def find_patch(answer: str) -> str:
    """Return the unified diff in an answer. Return "" if there is none.

    Tried in this order:

    - the first block in a ```diff or ```patch fence, or between <patch> or <diff> tags;
    - the first other fenced block that contains a diff;
    - everything from the first line that begins a diff.
    """
    fenced = [(match.start(), match[1].lower(), match[2]) for match in _FENCE.finditer(answer)]
    named = [(start, text) for start, word, text in fenced if word in ("diff", "patch")]
    named += [(match.start(), match[2]) for match in _TAG.finditer(answer)]
    if named:
        return _ended(min(named)[1])
    for _, _, text in fenced:
        if _RAW.search(text):
            return _ended(text)
    raw = _RAW.search(answer)
    return _ended(answer[raw.start() :]) if raw else ""


def drop_binary_parts(patch: str) -> str:
    """Return the patch without binary files and submodules, which a text patch cannot contain."""
    if not _NO_TEXT.search(patch):
        return patch
    return "".join(part for part in _FILE.split(patch) if part.strip() and not _NO_TEXT.search(part))


async def diff_work_tree(sandbox: Sandbox, directory: str, base: str) -> WorkTreeChanges:
    """Return the difference between a commit (`base`) and the work tree, with new files but without ignored files.

    This is `git add -A && git diff --cached <base>`, which agents submit for SWE-bench.

    Raises:
        ExecutionError: If the container was ended from outside, or the engine does not respond.
    """
    ended = await sandbox.run(
        ["sh", "-c", _CHANGES, "sh", base],
        seconds=GIT_SECONDS,
        cwd=directory,
        kept_bytes=MAX_PATCH_BYTES,
        output_bytes=MAX_PATCH_BYTES,
    )
    if ended.reason == "output" or ended.stdout_omitted_bytes:
        return WorkTreeChanges("", f"the changes are larger than {MAX_PATCH_BYTES // 2**20} MiB")
    if not ended.succeeded:
        return WorkTreeChanges("", f"git cannot show the changes: {ended.error_line}")
    return WorkTreeChanges(drop_binary_parts(ended.stdout.decode("utf-8", "replace")))


async def apply_patch(
    sandbox: Sandbox, directory: str, patch: str, ways: Sequence[Sequence[str]] = APPLY_COMMANDS
) -> PatchResult:
    """Apply a patch in a directory. Try several commands until one succeeds.

    `ways`: the commands, in order. The name of the patch file is appended to each command.

    Raises:
        ExecutionError: If the container was ended from outside, or the engine does not respond.
    """
    if not patch.strip():
        return PatchResult(False, "the patch is empty")
    await sandbox.write_files({PATCH_FILE: patch.encode("utf-8", "replace")})
    log = ""
    for way in ways:
        ended = await sandbox.run(
            [*way, PATCH_FILE], seconds=GIT_SECONDS, cwd=directory, kept_bytes=MAX_LOG_BYTES
        )
        log = (ended.stdout + ended.stderr).decode("utf-8", "replace")
        if ended.succeeded:
            return PatchResult(True, log)
    return PatchResult(False, log)


def _ended(patch: str) -> str:
    """Return the patch as git requires it: without empty lines at the start, with a newline at the end."""
    return patch.strip("\r\n") + "\n" if patch.strip() else ""
