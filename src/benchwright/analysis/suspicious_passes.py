"""Suspicious passes of a run: passed trials with flags. They still count as passes, and in every denominator.

For agents in containers, the number of suspicious passes is reported even if it is 0. It is also reported
whether the container was sealed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchwright.analysis.scores import passed_trials_mask
from benchwright.formats import count_with_noun
from benchwright.records import Record
from benchwright.runs.manifest import Manifest
from benchwright.runs.manifest_facts import seal_mode_of
from benchwright.runs.table import RunTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SuspiciousPasses(Record, frozen=True):
    """Counts of flagged trials of a target.

    `passes`: number of trials that passed. `suspicious`: number of passed trials with flags. `kinds`: mapping
    from each kind of flag to the number of passed trials with this flag, the most frequent first. `others`:
    number of flagged trials that did not pass. `seal`: `sealed` or `official` in runs of agents in
    containers; empty in other runs.
    """

    passes: int
    suspicious: int
    kinds: dict[str, int] = {}
    others: int = 0
    seal: str = ""


def suspicious_passes(
    manifest: Manifest, table: RunTable, rows: NDArray[np.bool_]
) -> SuspiciousPasses | None:
    """Return the number of suspicious passes among the trials in the mask `rows` (n,).

    Return None if no trial is flagged and the run has no seal.
    """
    import numpy as np

    flagged, seal = [row for row in table.flagged.flagged_rows() if rows[row]], seal_mode_of(manifest)
    if not flagged and not seal:
        return None
    passed = passed_trials_mask(manifest, table)
    if passed is None:
        passed = np.zeros(len(table), bool)
    suspicious = [row for row in flagged if passed[row]]
    kinds = Counter(kind for row in suspicious for kind in table.flagged.flag_kinds(row))
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
        yield f"{count_with_noun(found.others, 'trial')} with flags did not pass"


def kind_in_words(kind: str) -> str:
    """Return the kind of a flag as readable words."""
    return kind.replace("_", " ")
