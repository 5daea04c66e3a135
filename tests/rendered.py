"""What is shown in a terminal, as text."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, RenderableType


def as_text(rendered: RenderableType, width: int = 200) -> str:
    """What a terminal without colours shows, a wide one unless its `width` is given."""
    out = StringIO()
    Console(width=width, file=out).print(rendered)
    return out.getvalue()
