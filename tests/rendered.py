"""What is shown in a terminal, as text."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, RenderableType


def as_text(rendered: RenderableType) -> str:
    """What a wide terminal without colours shows."""
    out = StringIO()
    Console(width=200, file=out).print(rendered)
    return out.getvalue()
