"""What a run would cost, in words."""

from __future__ import annotations

from benchwright.analysis.cost import Cost
from benchwright.formats import duration


def cost_text(cost: Cost) -> str:
    """Requests, tokens, time and money in a line, as far as they are known."""
    most = "at most " if cost.most else ""
    parts = [
        f"{_number(cost.requests)} requests",
        f"{_number(cost.prompt_tokens)} prompt tokens",
        f"{most if cost.completion_tokens is not None else ''}{_number(cost.completion_tokens)} completion tokens",
    ]
    if cost.minutes is not None:
        parts.append(f"{most}{duration(cost.minutes * 60)}")
    if cost.money is not None:
        parts.append(f"cost {most}{cost.money:.4g}")
    return ", ".join(parts)


def cost_lines(cost: Cost) -> list[str]:
    """The cost, and what it is taken from."""
    return [f"estimate: {cost_text(cost)}", f"  ({cost.basis})"]


def _number(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"
