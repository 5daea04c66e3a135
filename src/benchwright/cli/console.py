"""The one rich console: foreign text in it is text, whatever it looks like."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from benchwright.text import plain_lines


class PlainConsole(Console):
    """A console without markup, emoji codes and highlighting, through which only rich's own sequences come."""

    def __init__(self, *, err: bool = False, width: int | None = None, soft_wrap: bool = False) -> None:
        super().__init__(
            stderr=err, width=width, soft_wrap=soft_wrap, highlight=False, markup=False, emoji=False
        )

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is written: rich's own control codes as they are, and texts that cannot steer the terminal."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield segment._replace(text=plain_lines(segment.text))
