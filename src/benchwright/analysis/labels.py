"""Labels of trials as columns of codes.

A label is, for example, a benchmark's subject, or an eval's cluster of samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.runs.columns import CodedNames
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable

if TYPE_CHECKING:
    from benchwright.runs.columns import Rows

MAX_LABEL_VALUES = 2_000
"""Maximum number of values of one label that are kept."""


class LabelColumn(NamedTuple):
    """One label of the trials. `codes` (n,): the code of each trial's value; -1 for none.

    `values`: the value of each code.
    """

    codes: NDArray[np.int64]
    values: list[str]


def label_columns(table: RunTable, rows: Rows) -> dict[str, LabelColumn]:
    """Return the labels of the trials in `rows`, as a mapping from the name of the label.

    If there are clusters of samples, they are the label named `group`.
    """
    sets = table.labels.numbers(rows)
    used = np.unique(sets).tolist()
    found = {}
    for name in dict.fromkeys(name for code in used for name in table.label_sets[code]):
        values = {code: value for code in used if (value := table.label_sets[code].get(name)) is not None}
        found[name] = _label(sets, values)
    groups = table.group.numbers(rows)
    grouped = {code: table.groups[code - 1] for code in np.unique(groups).tolist() if code}
    if grouped:
        found["group"] = _label(groups, grouped)
    return found


def _label(codes: NDArray[np.int64], values: Mapping[int, str]) -> LabelColumn:
    """Return the label of trials, given each trial's code and the value of each code.

    Values beyond the first `MAX_LABEL_VALUES` are dropped.
    """
    names = CodedNames()
    new = np.full(int(codes.max(initial=0)) + 1, -1, np.int64)
    for code, value in values.items():
        if names.find_code(value) is not None or len(names) < MAX_LABEL_VALUES:
            new[code] = names.get_or_add_code(value)
    return LabelColumn(new[codes], names.names)


def breakdown_labels(manifest: Manifest, labels: Mapping[str, LabelColumn]) -> list[str]:
    """Return the names of the labels by which scores are broken down: those that the benchmark names, or all
    labels.

    `group` (the sample's cluster) is left out for a load level. There, each prompt is a cluster because prompts
    are repeated, which is not a property of the task.
    """
    names = manifest.about.get("breakdowns", labels)
    return [name for name in names if name != "group" or "load" not in manifest.about]
