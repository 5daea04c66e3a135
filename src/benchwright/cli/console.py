"""The rich console of all commands. It prints text from outside (models, files) literally."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from benchwright.text import make_lines_safe


class PlainConsole(Console):
    """A console without markup, emoji codes and highlighting.

    Only rich's own control sequences reach the terminal.
    """

    def __init__(self, *, err: bool = False, width: int | None = None, soft_wrap: bool = False) -> None:
        super().__init__(
            stderr=err, width=width, soft_wrap=soft_wrap, highlight=False, markup=False, emoji=False
        )

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield rich's control codes unchanged. Yield text without any characters that could control the terminal."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield segment._replace(text=make_lines_safe(segment.text))
