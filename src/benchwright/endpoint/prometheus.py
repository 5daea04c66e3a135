"""Parser of metrics in the Prometheus text format, and the growth of counters between two scrapes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite

_SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*(?:\{.*\})?)\s+([^\s]+)(?:\s+-?\d+)?\s*$")
_TYPE = re.compile(r"^#\s*TYPE\s+(\S+)\s+(\S+)")
GROWING_METRIC_TYPES = frozenset({"counter", "histogram", "summary"})
"""Metric types whose values only grow, so that the difference between two values is meaningful."""


def cumulative_values(text: str) -> dict[str, float]:
    """Return the values of counters, histograms and summaries: a mapping from the name with its labels to the value.

    `text`: a page in the text exposition format 0.0.4.
    """
    kinds: dict[str, str] = {}
    values: dict[str, float] = {}
    for line in text.splitlines():
        if found := _TYPE.match(line):
            kinds[found[1]] = found[2]
        elif found := _SAMPLE.match(line):
            name = found[1].partition("{")[0]
            if any(kinds.get(family) in GROWING_METRIC_TYPES for family in _families(name)):
                try:
                    values[found[1]] = float(found[2])
                except ValueError:
                    continue
    return values


def metric_sums_and_maxima(text: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return ({name: sum}, {name: highest value}). Sum and highest value are over all label sets of a name.

    `text`: a page in the text exposition format 0.0.4. Lines that are not samples, and values that are not
    numbers, are skipped.
    """
    sums: dict[str, float] = {}
    highest: dict[str, float] = {}
    for name, _, value in parse_samples(text):
        sums[name] = sums.get(name, 0.0) + value
        highest[name] = max(value, highest.get(name, value))
    return sums, highest


def parse_samples(text: str) -> Iterator[tuple[str, str, float]]:
    """Yield (name, labels, value) of each sample with a finite value. The labels are as written, in braces."""
    for line in text.splitlines():
        found = _SAMPLE.match(line)
        if found is None:
            continue
        name, brace, labels = found[1].partition("{")
        try:
            value = float(found[2])
        except ValueError:
            continue
        if isfinite(value):
            yield name, brace + labels, value


def _families(name: str) -> Iterator[str]:
    """Yield the names under which a sample's type may be declared: its name with and without a suffix like `_sum`."""
    yield name
    for suffix in ("_total", "_sum", "_count", "_bucket", "_created"):
        if name.endswith(suffix):
            yield name.removesuffix(suffix)


def counter_growth(before: str, after: str) -> dict[str, float]:
    """Return by how much each value of `cumulative_values` grew between two pages.

    A value that is missing on the first page counts from 0. A value that fell is left out.
    """
    earlier = cumulative_values(before)
    grown = {name: value - earlier.get(name, 0.0) for name, value in cumulative_values(after).items()}
    return {
        name: value
        for name, value in grown.items()
        if value >= 0 and not name.partition("{")[0].endswith("_created")
    }
