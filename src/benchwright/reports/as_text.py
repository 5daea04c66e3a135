"""Converts Rich renderables to plain text."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from benchwright.secrets import SECRETS
from benchwright.text import make_lines_safe

if TYPE_CHECKING:
    from rich.console import RenderableType

MAX_WIDTH = 100


def as_text(content: RenderableType) -> str:
    """Render Rich content as text without colours, at most 100 columns wide.

    Markup in strings stays as it is.
    """
    from rich.console import Console

    console = Console(
        force_jupyter=False,  # in Jupyter, rich would display the content and leave the text empty
        file=StringIO(),
        width=MAX_WIDTH,
        color_system=None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    with console.capture() as captured:
        console.print(content)
    lines = make_lines_safe(SECRETS.redact(captured.get())).split("\n")
    return "\n".join(line.rstrip() for line in lines).rstrip()
