"""Eval functions: how good a run was, from 0 to 1."""

from __future__ import annotations

import re
from typing import Any


def right_number(solution_str: str, ground_truth: str, extra_info: dict[str, Any] | None = None) -> float:
    """1 where the last number of the answer is the right one, to a tenth of a percent."""
    numbers = re.findall(r"-?\d+(?:\.\d+)?", solution_str.replace(",", ""))
    right = float(ground_truth)
    return float(bool(numbers) and abs(float(numbers[-1]) - right) <= abs(right) / 1000)


def used_the_tool(messages: list[dict[str, Any]], ground_truth: str, metadata: dict[str, Any]) -> float:
    """1 where the model called the tool instead of guessing."""
    return float(any(message.get("tool_calls") for message in messages))
