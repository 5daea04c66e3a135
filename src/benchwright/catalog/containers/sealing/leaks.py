"""Searches an image's files for known solutions and tests, before an agent begins.

Nobody has worked in the container by then, so its own programs can be trusted. If the time limit ends a
search early, the result says so.
"""

from __future__ import annotations

import asyncio
import hashlib
import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from benchwright.catalog.containers.flags import Flag
from benchwright.catalog.containers.sealing.patch_auditing import PatchPart, split_patch
from benchwright.errors import ExecutionError
from benchwright.records import Record
from benchwright.sandbox.docker import Sandbox

SEARCH_SECONDS = 30.0
MIN_FILE_BYTES = 64
"""Minimum size in bytes of a file whose copies are searched. Shorter files may be identical by chance."""
MAX_FILE_BYTES = 16 * 1024 * 1024
MAX_LISTING_BYTES = 256 * 1024
MAX_COPIES = 64
"""Maximum number of files outside the work tree that are searched for the lines of the fix."""
MAX_COPY_BYTES = 1024 * 1024
MIN_LINE_LENGTH = 12
"""Minimum length in characters of a line of the right patch by which a file that contains the fix is recognised."""

_ELSEWHERE = r"\( -path /proc -o -path /sys -o -path /dev \) -prune -o"
_IDENTICAL = f"""
for program in find xargs sha256sum; do
  command -v $program >/dev/null || {{ echo "there is no $program" >&2; exit 3; }}
done
first=1
for size in "$@"; do
  [ $first = 1 ] && set -- && first=0 || set -- "$@" -o
  set -- "$@" -size "${{size}}c"
done
find / {_ELSEWHERE} -type f \\( "$@" \\) -print0 2>/dev/null | xargs -0 sha256sum 2>/dev/null
exit 0
"""
"""Shell script that lists each file with one of the given sizes, together with its digest."""
_NAMED = f"""
command -v find >/dev/null || {{ echo "there is no find" >&2; exit 3; }}
first=1
for name in "$@"; do
  [ $first = 1 ] && set -- && first=0 || set -- "$@" -o
  set -- "$@" -path "*/$name*"
done
find / {_ELSEWHERE} -type f \\( "$@" \\) -print 2>/dev/null
exit 0
"""
"""Shell script that lists each file whose path contains one of the given names."""
_PATTERN = re.compile(r"[*?\[\]\\\n]")


LEAKS_ARTIFACT = "image_holds"
"""Key of the outcome's artifact with the findings, see `Leaks`."""
SOLUTION_IN_IMAGE_FLAG = "solution_in_image"


class Leaks(Record, frozen=True):
    """Solutions and tests found in an image: `found` maps each path to a description.

    `hidden`: the paths that are hidden from the agent. `problem`: the reason why the search is incomplete;
    None if it is complete.
    """

    found: dict[str, str] = {}
    hidden: list[str] = []
    problem: str | None = None

    @property
    def artifacts(self) -> dict[str, Any]:
        """The result of the search as artifacts of an outcome. Empty if there is nothing to report."""
        return {LEAKS_ARTIFACT: msgspec.to_builtins(self)} if self.found or self.problem else {}

    @property
    def flags(self) -> list[Flag]:
        """The flags for a trial whose agent could see files that were found."""
        return [
            Flag(SOLUTION_IN_IMAGE_FLAG, f"{path}: {what}")
            for path, what in self.found.items()
            if path not in self.hidden
        ]


async def find_identical_files(sandbox: Sandbox, known: Iterable[tuple[str, bytes]]) -> Leaks:
    """Return the files of an image that are identical to `known` files, given as (description, content).

    Very short and very long files are not searched. `sandbox` must run as root.

    Raises:
        EngineError: If the engine does not respond.
    """
    digests, sizes = await asyncio.to_thread(_digests, known)
    if not sizes:
        return Leaks()
    lines, problem = await _listed(sandbox, _IDENTICAL, [str(size) for size in sizes])
    listed = (line.split("  ", 1) for line in lines if not line.startswith("\\") and "  " in line)
    found = {path: digests[digest] for digest, path in listed if digest in digests}
    return Leaks(found, problem=problem)


def _digests(known: Iterable[tuple[str, bytes]]) -> tuple[dict[str, str], list[int]]:
    """Return a mapping from the SHA-256 digests of `known` files to their descriptions, and the sizes of these files.

    `known`: pairs of a description and a content. Only one file at a time is in memory. Very short and very
    long files are left out.
    """
    digests, sizes = {}, set()
    for what, text in known:
        if MIN_FILE_BYTES <= len(text) <= MAX_FILE_BYTES:
            digests[hashlib.sha256(text).hexdigest()] = what
            sizes.add(len(text))
    return digests, sorted(sizes)


async def find_fixed_copies(sandbox: Sandbox, directory: str, patch: str) -> Leaks:
    """Return files outside the work tree that contain the fix, such as the files of an installed later version.

    Backups and build results are found, too. A file contains the fix if it contains all lines that the right
    patch adds to a file of that name. `sandbox` must run as root.

    Raises:
        EngineError: If the engine does not respond.
    """
    added = {part.names[-1]: lines for part in split_patch(patch) if part.names and (lines := _added(part))}
    tails = {_tail(name): name for name in added if not _PATTERN.search(name)}
    if not tails:
        return Leaks()
    listed, problem = await _listed(sandbox, _NAMED, list(tails))
    own = {f"{directory}/{name}" for name in added}
    candidates = [path for path in listed if path not in own]
    if len(candidates) > MAX_COPIES:
        problem = (
            problem or f"only {MAX_COPIES} of {len(candidates)} files of the same names were looked into"
        )
    found = {}
    for path in candidates[:MAX_COPIES]:
        name = next((name for tail, name in tails.items() if f"/{tail}" in path), None)
        if name is None or not added[name] <= await _lines(sandbox, path):
            continue
        if not added[name] <= await _lines(sandbox, f"{directory}/{name}"):
            found[path] = f"all lines that the right patch adds to {name}"
    return Leaks(found, problem=problem)


async def _listed(sandbox: Sandbox, script: str, arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the lines that a search printed, and the reason why lines may be missing.

    The reason is None if no lines are missing.
    """
    ended = await sandbox.run(
        ["sh", "-c", script, "sh", *arguments], seconds=SEARCH_SECONDS, kept_bytes=MAX_LISTING_BYTES
    )
    problem = None
    if ended.reason == "timeout":
        problem = f"the search of the image was ended after {SEARCH_SECONDS:g} s"
    elif not ended.succeeded:
        problem = f"the image could not be searched: {ended.error_line}"
    elif ended.stdout_omitted_bytes:
        problem = "the image holds too many files that may be meant"
    return ended.stdout.decode("utf-8", "replace").splitlines(), problem


async def _lines(sandbox: Sandbox, path: str) -> set[str]:
    try:
        text = (await sandbox.read_file(path, MAX_COPY_BYTES)).decode("utf-8", "replace")
    except ExecutionError:
        return set()
    return {line.strip() for line in text.splitlines()}


def _added(part: PatchPart) -> set[str]:
    """Return the lines that this part of a patch adds.

    Short lines are left out, because they do not show that a file already contains the patch.
    """
    lines = (line[1:].strip() for line in part.text.splitlines() if line.startswith("+"))
    return {line for line in lines if len(line) >= MIN_LINE_LENGTH and not line.startswith("++ ")}


def _tail(name: str) -> str:
    """Return the last two components of a path. File names alone, such as `__init__.py`, are too common."""
    folder, file = posixpath.split(name)
    return posixpath.join(posixpath.basename(folder), file)
