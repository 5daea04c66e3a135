"""Draws SVG as text: escaped elements, axes, and whole drawings with a text alternative.

Colours and fonts are CSS classes in the page's style sheet. `s0`, `s1`, … are the colours of the runs, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from markupsafe import Markup, escape

from benchwright.reports.html.charts.scales import Scale
from benchwright.reports.html.text import visible_text

DRAWING_WIDTH = 560
"""Width of a drawing in units. A drawing is readable on a phone, where a unit is two thirds of a pixel."""

SAMPLE, LINE, CHARACTER = 22, 18, 7.5
"""Sizes in a legend, in units. `SAMPLE`: length of the sample line. `LINE`: height of a row.

`CHARACTER`: width of a wide character.
"""

COLOUR_COUNT = 6
"""Number of colours that are distinguishable."""


def element(name: str, content: str | Markup = "", **attributes: str | float) -> Markup:
    """Render an element, escaped.

    In names of attributes, `_` becomes a dash, and a trailing `_` is dropped (`class_`).
    """
    text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_value(value))}"' for key, value in attributes.items()
    )
    inner = content if isinstance(content, Markup) else escape(visible_text(content))
    return Markup(f"<{name}{text}>{inner}</{name}>" if inner else f"<{name}{text}/>")


def _value(value: str | float) -> str:
    return visible_text(value) if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def join_elements(parts: Iterable[Markup]) -> Markup:
    """Concatenate elements to one markup text."""
    return Markup("".join(parts))


def render_drawing(title: str, description: str, height: float, parts: Iterable[Markup]) -> Markup:
    """Render the whole drawing. Its title and description are the text alternative."""
    return element(
        "svg",
        join_elements(parts),
        viewBox=f"0 0 {DRAWING_WIDTH} {height:.0f}",
        role="img",
        aria_label=f"{title}. {description}",
    )


def colour_class(place: int) -> str:
    """Return the CSS class of a run's colour. `place`: the index of the run."""
    return f"s{place % COLOUR_COUNT}"


def marker(x: float, y: float, place: int, size: float = 4.0, class_: str = "point") -> Markup:
    """Draw the point of a run. It is a dot for the first run, and the outline of a square or diamond for others.

    Outlines do not hide the points below them.
    """
    if place == 0:
        return element("circle", cx=x, cy=y, r=size, class_=f"{class_} {colour_class(place)}")
    far = size * 1.1 if place % 2 else size * 1.6
    corners = [(-far, -far), (far, -far), (far, far), (-far, far)]
    if place % 2 == 0:
        corners = [(0, -far), (far, 0), (0, far), (-far, 0)]
    path = "L".join(f"{x + across:.1f} {y + down:.1f}" for across, down in corners)
    return element("path", d=f"M{path}Z", class_=f"{class_} mark {colour_class(place)}")


def text(x: float, y: float, content: str, *, anchor: str = "start", class_: str = "t") -> Markup:
    """Draw a line of text with its baseline at `y`."""
    return element("text", content, x=x, y=y, text_anchor=anchor, class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """Draw a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def rectangle(x: float, y: float, width: float, height: float, class_: str) -> Markup:
    """Draw a rectangle, at least half a unit wide."""
    return element("rect", x=x, y=y, width=max(width, 0.5), height=height, class_=class_)


def bottom_axis(
    scale: Scale, top: float, bottom: float, label: Callable[[float], str], title: str
) -> list[Markup]:
    """Draw vertical grid lines with their values below, and the title of the axis."""
    parts = []
    for tick in scale.ticks():
        x = scale.coordinate(tick)
        parts += [line(x, top, x, bottom, "grid"), text(x, bottom + 16, label(tick), anchor="middle")]
    parts.append(text((scale.start + scale.end) / 2, bottom + 34, title, anchor="middle", class_="t axis"))
    return parts


def left_axis(scale: Scale, left: float, right: float, label: Callable[[float], str]) -> list[Markup]:
    """Draw horizontal grid lines, with their values on the left."""
    parts = []
    for tick in scale.ticks():
        y = scale.coordinate(tick)
        parts += [line(left, y, right, y, "grid"), text(left - 8, y + 4, label(tick), anchor="end")]
    return parts


def left_axis_title(title: str, top: float = 0.0) -> Markup:
    """Draw the title of the left axis above it, within 16 units below `top`."""
    return text(0, top + 12, title, class_="t axis")


def legend(entries: Sequence[tuple[str, str]], left: float, top: float) -> tuple[list[Markup], float]:
    """Draw a legend: for each pair (name, CSS classes), a sample line and the name, in as many rows as needed.

    Return the elements and their height. A single entry gets no legend.
    """
    if len(entries) < 2:
        return [], 0.0
    parts, x, y = list[Markup](), left, top
    for name, classes in entries:
        width = SAMPLE + 6 + CHARACTER * len(name) + 18
        if x > left and x + width > DRAWING_WIDTH:
            x, y = left, y + LINE
        parts.append(element("path", d=f"M{x:.1f} {y + 8:.1f}h{SAMPLE}", class_=f"curve {classes}"))
        parts.append(text(x + SAMPLE + 6, y + 12, name, class_="t label"))
        x += width
    return parts, y + LINE - top
