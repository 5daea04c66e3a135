"""Suspicious passes of a run: passes with flags. They stay passes, and in every denominator.

A run of agents in containers reports the number even if it is 0, and whether it was sealed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchwright.analysis.scores import passed_trials
from benchwright.formats import counted
from benchwright.records import Record
from benchwright.runs.about import seal_of
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SuspiciousPasses(Record, frozen=True):
    """Counts of flagged trials of a target.

    `suspicious` of the `passes` have flags; `kinds` counts them by the kind of their flags, the most frequent
    first. `others` are flagged trials that did not pass. `seal` is `sealed` or `official` in runs of agents
    in containers.
    """

    passes: int
    suspicious: int
    kinds: dict[str, int] = {}
    others: int = 0
    seal: str = ""


def suspicious_passes(
    manifest: Manifest, table: RunTable, rows: NDArray[np.bool_]
) -> SuspiciousPasses | None:
    """Count the suspicious passes among the trials that `rows` (n,) selects. None without flags and seal."""
    import numpy as np

    flagged, seal = [row for row in table.flagged.rows() if rows[row]], seal_of(manifest)
    if not flagged and not seal:
        return None
    passed = passed_trials(manifest, table)
    if passed is None:
        passed = np.zeros(len(table), bool)
    suspicious = [row for row in flagged if passed[row]]
    kinds = Counter(kind for row in suspicious for kind in table.flagged.kinds(row))
    return SuspiciousPasses(
        passes=int(np.count_nonzero(passed & rows)),
        suspicious=len(suspicious),
        kinds=dict(kinds.most_common()),
        others=len(flagged) - len(suspicious),
        seal=seal,
    )


def suspicious_lines(found: SuspiciousPasses | None) -> Iterator[str]:
    """Yield lines on the seal, on suspicious passes by kind, and on flagged trials that did not pass."""
    if found is None:
        return
    if found.suspicious or found.seal:
        kinds = ", ".join(f"{count:,} {kind_in_words(kind)}" for kind, count in found.kinds.items())
        noun, verb = (
            "pass" if found.passes == 1 else "passes",
            "is" if 1 in (found.passes, found.suspicious) else "are",
        )
        told = f"{found.suspicious:,} of {found.passes:,} {noun} {verb} suspicious"
        yield (f"{found.seal}: " if found.seal else "") + told + (f": {kinds}" if kinds else "")
    if found.others:
        yield f"{counted(found.others, 'trial')} with flags did not pass"


def kind_in_words(kind: str) -> str:
    """Return the kind of a flag in readable form."""
    return kind.replace("_", " ")
