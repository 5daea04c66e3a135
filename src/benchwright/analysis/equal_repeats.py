"""Detects repeats that are no real repeats: a server that ignores the temperature gives the same answer each
time.

Nothing is stored for this check, because the answers are in the stored bodies of the trials. The check reads
only the first samples, and ends at the first repeat whose answer differs. If the server does sample, two
bodies are usually enough to see that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from benchwright.errors import JournalError
from benchwright.records import DECODE_ERRORS, FAILED_STATUSES, Record, Target
from benchwright.runs.journal import TrialBody, read_bodies
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import STATUSES, RunTable

if TYPE_CHECKING:
    from benchwright.runs.columns import Rows

MIN_CHECKED_SAMPLES = 5
"""Minimum number of samples for the check.

With fewer samples, a model that is certain of its answers would often look the same.
"""

MAX_CHECKED_SAMPLES = 50
MAX_CHECKED_REPEATS = 10


class EqualRepeats(Record, frozen=True):
    """Evidence that repeats are no real repeats: all repeats of each sample got the same answer.

    `samples`: number of samples checked. `temperature`: the temperature that was sent, which is above 0.
    """

    samples: int
    temperature: float


def find_equal_repeats(manifest: Manifest, table: RunTable, target: Target) -> EqualRepeats | None:
    """Return evidence that a target's repeats are no real repeats. Return None if there is no such evidence.

    The check reads the first `MAX_CHECKED_SAMPLES` samples that have several answered repeats, and
    `MAX_CHECKED_REPEATS` repeats of each. There is no evidence if one repeat differs, if there are fewer than
    `MIN_CHECKED_SAMPLES` such samples, or if no temperature above 0 was sent.
    """
    temperature = _temperature(manifest, target)
    if manifest.repeats < 2 or temperature is None or temperature <= 0:
        return None
    samples = _repeated(table, table.counted_rows(target.slot))
    try:
        if len(samples) < MIN_CHECKED_SAMPLES or not all(_are_equal(table, sample) for sample in samples):
            return None
    except JournalError:  # a lost body leaves the question open
        return None
    return EqualRepeats(len(samples), temperature)


def equal_repeats_lines(found: EqualRepeats | None) -> list[str]:
    """Return the lines of a warning that equal repeats add no information. Empty if the repeats are not equal."""
    if found is None:
        return []
    return [
        f"Repeats are equal: at temperature {found.temperature:g}, all repeats of a sample got the same answer "
        f"({found.samples} samples looked at). The server ignores the temperature, caches answers or got one seed "
        "for all repeats, or the model is certain: pass@k and the variance between repeats say no more than one "
        "repeat."
    ]


def _temperature(manifest: Manifest, target: Target) -> float | None:
    """Return the temperature that the requests carried.

    It was set by the target, a pack, or an agent's own settings.
    """
    for settings in (target.settings, manifest.about.get("generation", {}), manifest.settings):
        value = settings.get("temperature")
        if isinstance(value, int | float):
            return value
    return None


def _repeated(table: RunTable, rows: Rows) -> list[Rows]:
    """Return the rows of the first samples that have several answered repeats, sample by sample."""
    import numpy as np

    failed = [STATUSES.index(status) for status in FAILED_STATUSES]
    answered = rows[~np.isin(table.status.compact_numbers(rows), failed)]
    of = table.sample.compact_numbers(answered)
    samples, counts = np.unique(of, return_counts=True)
    return [
        answered[of == sample][:MAX_CHECKED_REPEATS] for sample in samples[counts > 1][:MAX_CHECKED_SAMPLES]
    ]


def _are_equal(table: RunTable, rows: Rows) -> bool:
    bodies = read_bodies(table.directory, (table.read_record(int(row)) for row in rows))
    first = _said(next(bodies)[1])
    return all(_said(body) == first for _, body in bodies)


class _Call(msgspec.Struct):
    function: Any = None


class _Message(msgspec.Struct):
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    text: Any = None


class _Response(msgspec.Struct):
    """The fields of a response that come from the model.

    Fields that come from the server are left out: ids, times and counts.
    """

    choices: list[_Choice]


_read_response = msgspec.json.Decoder(_Response).decode


def _said(body: TrialBody) -> Any:
    """Return all text that models wrote in a trial, including reasoning.

    If no request was recorded, return the final answer.
    """
    try:
        return [_read_response(exchange.response) for exchange in body.exchanges] or body.answer
    except DECODE_ERRORS:
        return body.answer
