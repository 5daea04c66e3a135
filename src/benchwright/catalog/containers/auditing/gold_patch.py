"""Finds signs that an agent knew the gold patch: it submitted the same patch, or saw that patch before editing."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from benchwright.catalog.containers.auditing.trajectory import Finding, StepActions, Trajectory

SAME, SAW = "same_as_the_gold_patch", "saw_the_gold_patch"

MIN_CHANGED, MIN_CHARACTERS = 10, 300
"""`MIN_CHANGED`: minimum number of changed lines in a gold patch that is compared with the agent's patch.

`MIN_CHARACTERS`: minimum number of characters of these lines together. Nobody writes an identical patch of
this size by chance.
"""
MIN_SEEN, SHARE_SEEN = 6, 0.6
"""`MIN_SEEN`: minimum number of the gold patch's distinctive lines in an output that is reported.

`SHARE_SEEN`: minimum share of all distinctive lines of the gold patch in such an output. Both minimums must
be reached.
"""
MIN_LINE_CHARACTERS = 16
"""Minimum length in characters of a line that counts as distinctive."""

_TEST_FILE = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__)/|(?:^|/)test_[^/]*$|_test\.\w+$|\.(?:spec|test)\.\w+$"
)
_FILE = re.compile(r"^diff --git ", re.MULTILINE)
_TARGET = re.compile(r"^(?:\+\+\+ b/|--- a/)(\S+)", re.MULTILINE)


def findings(trajectory: Trajectory, acts: Sequence[StepActions]) -> Iterator[Finding]:
    """Find an agent's patch that is identical to the gold patch, and gold lines seen before the first edit."""
    if not trajectory.gold_patch:
        return
    gold = _changes(trajectory.gold_patch)
    large = len(gold) >= MIN_CHANGED and sum(map(len, gold)) >= MIN_CHARACTERS
    if large and gold == _changes(trajectory.patch):
        asked = "" if trajectory.has_conversation else "; no model was asked"
        line = f"all {len(gold)} changed lines are those of the gold patch{asked}"
        yield Finding(SAME, line, "sign" if trajectory.has_conversation else "note")
    yield from _seen(trajectory.instruction, gold, _names(trajectory.gold_patch), acts)


def _seen(
    instruction: str, gold: Sequence[str], names: set[str], acts: Sequence[StepActions]
) -> Iterator[Finding]:
    """Find the first output that contains most of the gold patch.

    Only outputs before the agent first edits a file of the gold patch count.
    """
    removed = {line[1:] for line in gold if line.startswith("-")}
    added = {line[1:] for line in gold if line.startswith("+") and len(line) > MIN_LINE_CHARACTERS}
    telling = added - removed - set(_lines(instruction))
    enough = max(MIN_SEEN, SHARE_SEEN * len(telling))
    for one in acts:
        if _changes_one(one, names):
            return
        shown = telling & set(_lines(one.step.output))
        if len(shown) >= enough:
            first = one.step.command.strip().partition("\n")[0]
            yield one.make_finding(
                SAW, f"{first} showed {len(shown)} of {len(telling)} lines of the gold patch"
            )
            return


def _changes_one(acts: StepActions, names: set[str]) -> bool:
    """Return True if the step may have changed a file whose name is in `names`."""
    if any(posixpath.basename(writing.path) in names for writing in acts.file_writes):
        return True
    if any(command.words[:2] == ["git", "apply"] or command.program == "patch" for command in acts.commands):
        return True
    return any(name in code.text for code in acts.programs for name in names)


def _names(patch: str) -> set[str]:
    return {posixpath.basename(found[1]) for found in _TARGET.finditer(patch)}


def _changes(patch: str) -> list[str]:
    """Return the changed lines of a patch, with whitespace normalised. Changes to test files are left out."""
    found: list[str] = []
    for part in _FILE.split(patch):
        target = _TARGET.search(part)
        if target is None or not _TEST_FILE.search(target[1]):
            found += [line[0] + " ".join(line[1:].split()) for line in part.split("\n") if _is_change(line)]
    return found


def _is_change(line: str) -> bool:
    return line[:1] in ("+", "-") and not line.startswith(("+++ ", "--- ")) and bool(line[1:].strip())


def _lines(text: str) -> Iterator[str]:
    """Yield each line of an output with whitespace normalised, and a second time without a leading `+`."""
    for line in text.split("\n"):
        plain = " ".join(line.split())
        yield plain
        yield plain.removeprefix("+").strip()
