"""Drawings as separate SVG files.

Colours are written into the file as plain values. On pages, they are taken from the style sheet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from benchwright import __version__
from benchwright.reports.html.charts.svg import text
from benchwright.reports.html.page_style import GENERATOR_TAG, TEMPLATES_FOLDER
from benchwright.reports.html.plots import Plot, PlotSection

PIXELS_PER_UNIT = 1.5
"""Pixels per unit of a drawing, for programs that need the size in pixels."""

MARGIN, HEADING = 14, 34
"""Sizes in units. `MARGIN`: space around a drawing. `HEADING`: space for the title above the drawing."""

DARK_MODE_QUERY = "@media (prefers-color-scheme: dark)"
CSS_VARIABLE = re.compile(r"var\(--(\w+)(?:, var\(--\w+\))?\)")


def svg_files(sections: Sequence[PlotSection]) -> dict[str, bytes]:
    """Return the plots as SVG files: a mapping from file name (made from the title) to content."""
    plots = [plot for section in sections for plot in section.plots]
    return {f"{name}.svg": _file(plot) for name, plot in zip(_names(plots), plots, strict=True)}


def _names(plots: Sequence[Plot]) -> Iterator[str]:
    """Yield a file name for each plot, made of letters, digits and dashes. Equal names get a number."""
    taken: dict[str, int] = {}
    for plot in plots:
        name = re.sub(r"[^a-z0-9]+", "-", plot.title.lower()).strip("-")[:80] or "plot"
        taken[name] = taken.get(name, 0) + 1
        yield name if taken[name] == 1 else f"{name}-{taken[name]}"


def _file(plot: Plot) -> bytes:
    """Render a file: the drawing with its title above, and a margin around both."""
    begin, rest = str(plot.drawing).removeprefix("<svg ").split(">", 1)
    inner_width, inner_height = re.findall(r'viewBox="0 0 (\d+) (\d+)"', begin)[0]
    width, height = int(inner_width) + 2 * MARGIN, int(inner_height) + HEADING + MARGIN
    size = f'width="{width * PIXELS_PER_UNIT:.0f}" height="{height * PIXELS_PER_UNIT:.0f}"'
    begin = re.sub('viewBox="[^"]*"', f'viewBox="{-MARGIN} {-HEADING} {width} {height}"', begin, count=1)
    made = f"<metadata>{GENERATOR_TAG} {__version__}</metadata><style>{_style()}</style>"
    title = text(0, MARGIN - HEADING + 4, plot.title, class_="t halo")
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {begin}>{made}{title}{rest}\n'
    return svg.encode("utf-8", "replace")


@cache
def _style() -> str:
    """Return the CSS rules of drawings for light and dark mode, with the colours filled in."""
    sheets = [(TEMPLATES_FOLDER / name).read_text(encoding="utf-8") for name in ("palette.css", "shared.css")]
    rules = [line for line in sheets[1].splitlines() if line.startswith("svg ") and "{ display" not in line]
    light, dark = (_colours(sheets, place) for place in (0, 1))
    wanted = "\n".join(["svg { background: var(--paper); }", *rules])
    in_light, in_dark = _coloured(wanted, light), _coloured(wanted, {**light, **dark})
    return f"{in_light}\n{DARK_MODE_QUERY} {{\n{in_dark}\n}}"


def _coloured(rules: str, colours: Mapping[str, str]) -> str:
    return CSS_VARIABLE.sub(lambda found: colours.get(found[1], "none"), rules)


def _colours(sheets: Sequence[str], place: int) -> Mapping[str, str]:
    """Return colours by name, from one block of each style sheet. `place`: 0 for light mode, 1 for dark mode."""
    blocks = [re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)[place] for sheet in sheets]
    return dict(pair for block in blocks for pair in re.findall(r"--([\w-]+): ([^;]+);", block))
