"""Eval functions: the quality of a run, from 0 to 1."""

from __future__ import annotations

import re
from typing import Any


def right_number(solution_str: str, ground_truth: str, extra_info: dict[str, Any] | None = None) -> float:
    """Return 1 if the last number of the answer is the right one, to a tenth of a percent."""
    numbers = re.findall(r"-?\d+(?:\.\d+)?", solution_str.replace(",", ""))
    right = float(ground_truth)
    return float(bool(numbers) and abs(float(numbers[-1]) - right) <= abs(right) / 1000)


def used_the_tool(messages: list[dict[str, Any]], ground_truth: str, metadata: dict[str, Any]) -> float:
    """Return 1 if the model called the tool instead of guessing."""
    return float(any(message.get("tool_calls") for message in messages))
