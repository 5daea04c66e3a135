"""Finds patches that write outside of the work tree, and changes in patches to how tests are found and run."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from typing import Any

import msgspec

from benchwright.catalog.containers.flags import FLAGS_KEY, Flag
from benchwright.catalog.containers.sealing.test_configuration import (
    FRAMEWORK_CHANGE_PATTERN,
    TEST_PATH_PATTERN,
    changes_test_configuration,
)
from benchwright.records import Record
from benchwright.sandbox.docker.time_limits import extend_limits_if_busy
from benchwright.text import one_line

MAX_LINE_LENGTH = 200

REACHES_OUT, DEPENDS = "patch_reaches_out", "verdict_depends_on_test_configuration"
CHANGED_FRAMEWORK_FLAG = "patch_changes_the_test_framework"

RERUN_ARTIFACT = "rerun"
"""Key of the outcome's artifact for a passing patch that was tested again without some of its changes.

The artifact is {"left_out": names of the files whose changes were left out, "passes": True if the rest still
passes}.
"""

_PART = re.compile(r"^(?=diff --git )|^(?=--- .*\n\+\+\+ .*\n@@ )", re.MULTILINE)
_NAME = re.compile(r'^(?:---|\+\+\+|rename (?:from|to)|copy (?:from|to)) ("?)(.+?)\1(?:\t.*)?$', re.MULTILINE)
_HEADING = re.compile(r"^diff --git a/(.*) b/(.*)$", re.MULTILINE)
_LINK = re.compile(r"^new (?:file )?mode 120000$|^index \S+ 120000$", re.MULTILINE)
_NEW = re.compile(r"^new file mode|^--- /dev/null$", re.MULTILINE)


class PatchPart(Record, frozen=True):
    """The section of a patch for one file: its text, and the file names in its heading without `a/` and `b/`.

    `is_new`: True if the patch adds the file. `is_link`: True if the file is a symbolic link.
    """

    text: str
    names: list[str]
    is_new: bool
    is_link: bool


def split_patch(patch: str) -> list[PatchPart]:
    """Split a patch into its sections, one per file, in order."""
    return [_part(text) for text in _joined(_PART.split(patch)) if text.strip()]


def find_outside_path(patch: str) -> str | None:
    """Return the first file name in a patch that is outside of the work tree, or in `.git`.

    A name is outside if it is absolute, contains `..`, or is behind a link that the patch makes. Return None
    if there is no such name.
    """
    found = split_patch(patch)
    links = {name for part in found if part.is_link for name in part.names}
    for part in found:
        for name in part.names:
            steps = name.split("/")
            behind = any("/".join(steps[:end]) in links for end in range(1, len(steps)))
            if name.startswith("/") or ".." in steps or ".git" in steps or behind:
                return name
    return None


def is_test_configuration(part: PatchPart, runners: Collection[str] = ()) -> bool:
    """Return True if this section of a patch changes how tests are found, started or counted.

    `runners`: files that start the tests.
    """
    return any(
        name in runners or changes_test_configuration(name, part.text, is_new=part.is_new)
        for name in part.names
    )


async def audit_patch(
    patch: str,
    *,
    passed: bool,
    passes: Callable[[str], Awaitable[bool]],
    flags: Iterable[Flag] = (),
    runners: Collection[str] = (),
    when_clean: Callable[[], Awaitable[list[Flag]]] | None = None,
) -> dict[str, Any]:
    """Return the seal's artifacts for a tested patch: the earlier `flags`, and further flags for a pass.

    If a passing patch changes the test configuration or a file that starts tests (`runners`), `passes` tests
    the patch again without these changes. If the patch then fails, it is flagged. A pass whose product code
    manipulates the test framework is flagged, too. If there is no flag, `when_clean` makes further checks and
    returns their flags.
    """
    found = split_patch(patch) if passed else []
    flags = [*flags, *_changes_of_framework(found)]
    rerun = {}
    about_tests = [part for part in found if part.names and is_test_configuration(part, runners)]
    left_out = sorted({part.names[-1] for part in about_tests})
    if left_out:
        rest = "".join(part.text for part in found if part not in about_tests)
        with extend_limits_if_busy():
            still = bool(rest.strip()) and await passes(rest)
        rerun = {RERUN_ARTIFACT: {"left_out": left_out, "passes": still}}
        if not still:
            evidence = f"the tests pass with the patch, and fail without its changes of {', '.join(left_out)}"
            flags.append(Flag(DEPENDS, evidence))
    if passed and not flags and when_clean is not None:
        flags += await when_clean()
    return {**rerun, **({FLAGS_KEY: msgspec.to_builtins(flags)} if flags else {})}


def _changes_of_framework(found: list[PatchPart]) -> Iterator[Flag]:
    """Yield a flag for each file whose added lines manipulate the test framework. Test files are exempt."""
    for part in found:
        line = FRAMEWORK_CHANGE_PATTERN.search(part.text)
        if line and part.names and not any(TEST_PATH_PATTERN.search(name) for name in part.names):
            yield Flag(
                CHANGED_FRAMEWORK_FLAG, f"{part.names[-1]}: {one_line(line[0][1:].strip(), MAX_LINE_LENGTH)}"
            )


def refused_patch_artifacts(name: str) -> dict[str, Any]:
    """Return the seal's artifacts for a patch that is not tested because it contains the file `name`."""
    return {FLAGS_KEY: [msgspec.to_builtins(Flag(REACHES_OUT, f"the patch names {name}"))]}


def _joined(texts: list[str]) -> Iterator[str]:
    """Join the pieces of a patch so that each file has one.

    A `---` heading after the file's own `diff --git` line begins no new file.
    """
    pending = ""
    for text in texts:
        if pending and not (text.startswith("--- ") and "\n@@ " not in pending):
            yield pending
            pending = ""
        pending += text
    yield pending


def _part(text: str) -> PatchPart:
    heading = text.partition("\n@@ ")[0]
    named = [found[2] for found in _NAME.finditer(heading) if found[2] != "/dev/null"]
    names = [re.sub(r"^[ab]/", "", name) for name in named]
    if not names and (found := _HEADING.search(heading)):
        names = [found[1], found[2]]
    return PatchPart(
        text, list(dict.fromkeys(names)), bool(_NEW.search(heading)), bool(_LINK.search(heading))
    )
