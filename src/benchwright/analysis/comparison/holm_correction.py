"""Corrects all tests of a comparison together: adjusts p-values by Holm's method, and derives the verdicts
from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from benchwright.analysis.comparison.all_tasks_comparison import with_adjusted_p_value
from benchwright.analysis.comparison.figures import apply_holm_correction
from benchwright.analysis.comparison.pairs import PairOfSides
from benchwright.analysis.comparison.records import AllTasksComparison
from benchwright.stats.multiple_testing import holm_adjusted_p_values


def correct_verdicts(
    pairs: Sequence[PairOfSides], together: Sequence[AllTasksComparison] = ()
) -> tuple[list[PairOfSides], list[AllTasksComparison], int]:
    """Return the pairs and the means over tasks with Holm-adjusted p-values. Also return the number of tests.

    The adjustment is over all tests of the pairs and means together.
    """
    p_values = [
        score.p_value for pair in pairs for score in pair.comparison.scores if score.p_value is not None
    ]
    p_values += [one.p_value for one in together if one.p_value is not None]
    tests = len(p_values)
    adjusted = holm_adjusted_p_values(p_values).tolist()
    place = 0

    def next_adjusted(p_value: float | None) -> float | None:
        nonlocal place
        place += p_value is not None
        return adjusted[place - 1] if p_value is not None and tests > 1 else None

    settled_pairs = []
    for pair in pairs:
        found = []
        for score in pair.comparison.scores:
            tested = score.p_value is not None
            others = p_values[:place] + p_values[place + tested :]
            found.append(
                apply_holm_correction(
                    score, next_adjusted(score.p_value), partial(_among, others), max(tests, 1)
                )
            )
        settled_pairs.append(pair._replace(comparison=msgspec.structs.replace(pair.comparison, scores=found)))
    return settled_pairs, [with_adjusted_p_value(one, next_adjusted(one.p_value)) for one in together], tests


def _among(others: list[float], p_value: float) -> float:
    """Return the Holm-adjusted value of a p-value that is tested together with the p-values `others`."""
    return float(holm_adjusted_p_values([p_value, *others])[0])
