"""Two eval functions for the calculator agent: one looks at the answer, one at the whole conversation."""

from __future__ import annotations

import re
from typing import Any

from osmosis_ai import osmosis_reward

NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def numbers_in(text: str) -> list[float]:
    """The numbers in a text, in order; commas between thousands are allowed."""
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def is_close(number: float, ground_truth: str) -> bool:
    """Whether a number is the right one, but for rounding in its last digits."""
    return abs(number - float(ground_truth)) < 1e-6


@osmosis_reward
def right_number(
    solution_str: str, ground_truth: str, extra_info: dict[str, Any] | None = None, **kwargs: Any
) -> float:
    """1.0 if the last number of the answer is the right one."""
    found = numbers_in(solution_str)
    return 1.0 if found and is_close(found[-1], ground_truth) else 0.0


def worked_out(
    messages: list[dict[str, Any]], ground_truth: str, metadata: dict[str, Any], **kwargs: Any
) -> float:
    """1.0 if the calculator gave the right number, 0.5 if it was used at all, 0.0 if the model guessed."""
    results = [message["content"] for message in messages if message["role"] == "tool"]
    if any(is_close(number, ground_truth) for result in results for number in numbers_in(result)):
        return 1.0
    return 0.5 if results else 0.0
