"""Reads the measurements in files that `load -o` of this version or an earlier one wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from benchwright.analysis.load.comparison.records import LoadComparison
from benchwright.analysis.load.records import LoadReport
from benchwright.records import DECODE_ERRORS

RATES = ("achieved", "input_tokens", "output_tokens", "rate")
"""Figures of a level, or of its goodput, that the first versions wrote as numbers without an interval."""


def read_reports(path: Path) -> list[LoadReport]:
    """Return the measurements in a file of `load -o`. Empty if it is another file, or cannot be read."""
    try:
        content = msgspec.json.decode(path.read_bytes())
    except (OSError, *DECODE_ERRORS):
        return []
    try:
        return msgspec.convert(content, LoadComparison).reports
    except DECODE_ERRORS:
        pass
    try:
        return [msgspec.convert(_with_estimates(content), LoadReport)]
    except DECODE_ERRORS:
        return []


def _with_estimates(content: Any) -> Any:
    """Return a measurement in which all rates are estimates. Content of another shape is returned unchanged."""
    levels = content.get("levels") if isinstance(content, dict) else None
    if not isinstance(levels, list) or not all(isinstance(level, dict) for level in levels):
        return content
    return content | {"levels": [_level_with_estimates(level) for level in levels]}


def _level_with_estimates(level: dict[str, Any]) -> dict[str, Any]:
    goodput = level.get("goodput")
    own = {"goodput": _figures_with_estimates(goodput)} if isinstance(goodput, dict) else {}
    return _figures_with_estimates(level) | own


def _figures_with_estimates(figures: dict[str, Any]) -> dict[str, Any]:
    plain = {name: value for name in RATES if isinstance(value := figures.get(name), int | float)}
    return figures | {name: {"value": value} for name, value in plain.items()}
