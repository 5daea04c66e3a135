"""What a run would cost, in words."""

from __future__ import annotations

from benchwright.analysis.cost import Cost
from benchwright.formats import counted, duration


def cost_text(cost: Cost) -> str:
    """Requests, tokens, time and money in a line, as far as they are known."""
    most = "at most " if cost.most else ""
    if cost.requests is cost.prompt_tokens is cost.completion_tokens is None:
        return "unknown"
    parts = [
        _counted(cost.requests, "request"),
        _counted(cost.prompt_tokens, "prompt token"),
        f"{most if cost.completion_tokens is not None else ''}{_counted(cost.completion_tokens, 'completion token')}",
    ]
    if cost.minutes is not None:
        parts.append(f"{most}{duration(cost.minutes * 60)}")
    if cost.money is not None:
        parts.append(f"cost {most}{cost.money:.4g}")
    return ", ".join(parts)


def cost_lines(cost: Cost) -> list[str]:
    """The cost, and what it is taken from."""
    return [f"estimate: {cost_text(cost)}", f"  ({cost.basis})"]


def _counted(count: int | None, noun: str) -> str:
    return f"unknown {noun}s" if count is None else counted(count, noun)
