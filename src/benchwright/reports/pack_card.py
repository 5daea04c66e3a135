"""The summary card of a pack's run as text, Markdown, SVG and HTML.

Names that come from packs and models are escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html import escape

from benchwright.analysis.pack_card import CardModel, PackCard
from benchwright.reports.pack import escape_markdown
from benchwright.text import make_safe, truncate

BAR_WIDTH = 20
"""Width of a full bar in characters."""
WIDTH, LINE, MARGIN = 640, 22, 24
"""Sizes of an SVG in pixels. `WIDTH`: its width. `LINE`: height of a line of text. `MARGIN`: width of the margin."""
MAX_LABEL_LENGTH = 34
"""Maximum number of characters of a label."""
SVG_STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#1f2933}.h{font-size:20px;font-weight:600}"
    ".m{font-weight:600}.s{fill:#52606d;font-size:12px}.e{text-anchor:end}.w{fill:#b42318}"
)


def as_text(card: PackCard) -> str:
    """Render the card for a terminal or a chat."""
    lines = [f"{make_safe(card.pack)}: {card.scope}"]
    for model in card.models:
        lines += ["", *_model_lines(model)]
        for one in model.categories:
            bar = "█" * round(BAR_WIDTH * one.share)
            lines.append(
                f"  {make_safe(truncate(one.label, MAX_LABEL_LENGTH)):{MAX_LABEL_LENGTH}} {bar:{BAR_WIDTH}} "
                f"{make_safe(one.score)}"
            )
    return "\n".join([*lines, "", card.host]) + "\n"


def _model_lines(model: CardModel) -> Iterator[str]:
    yield f"{make_safe(model.label)}: {make_safe(model.total) or 'no score'}  {make_safe(model.remark)}".rstrip()
    if model.repeats:
        yield f"  {model.repeats}"


def as_markdown(card: PackCard) -> str:
    """Render the card for an issue or a README."""
    lines = [f"### {escape_markdown(card.pack)}", "", f"{card.scope}, {card.host}", ""]
    lines += ["| Model | Total | Repeats | Remark | Categories |", "|---|---|---|---|---|"]
    for model in card.models:
        categories = "<br>".join(
            f"{escape_markdown(one.label)}: {escape_markdown(one.score)}" for one in model.categories
        )
        cells = (
            escape_markdown(model.label),
            escape_markdown(model.total) or "–",
            escape_markdown(model.repeats),
            escape_markdown(model.remark),
            categories,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def as_svg(card: PackCard) -> str:
    """Render the card as an image, with a bar for each category."""
    parts = [_text(MARGIN, MARGIN + 12, card.pack, "h"), _text(MARGIN, MARGIN + 34, card.scope, "s")]
    y = MARGIN + 34
    for model in card.models:
        y += 2 * LINE
        total = model.total or "no score"
        parts += [_text(MARGIN, y, model.label, "m"), _text(WIDTH - MARGIN, y, total, "m e")]
        for note, kind in ((model.remark, "s" if model.complete else "s w"), (model.repeats, "s")):
            if note:
                y += LINE - 4
                parts.append(_text(MARGIN, y, truncate(note, 2 * MAX_LABEL_LENGTH), kind))
        for one in model.categories:
            y += LINE
            length = round(240 * one.share, 1)
            parts += [
                _text(MARGIN, y, truncate(one.label, MAX_LABEL_LENGTH)),
                f'<rect x="290" y="{y - 11}" width="240" height="12" fill="#e4e7eb"/>',
                f'<rect x="290" y="{y - 11}" width="{length}" height="12" fill="#2f855a"/>',
                _text(WIDTH - MARGIN, y, one.score, "e"),
            ]
    height = y + 2 * LINE
    parts.append(_text(MARGIN, height - 14, card.host, "s"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img"><title>{_safe(card.pack)}</title><style>{SVG_STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def as_html(card: PackCard) -> str:
    """Render a self-contained page with the image, without scripts."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><title>{_safe(card.pack)}</title>'
        f"</head><body>\n{as_svg(card)}</body></html>\n"
    )


def _text(x: int, y: int, text: str, kind: str = "") -> str:
    return f'<text x="{x}" y="{y}" class="{kind}">{_safe(text)}</text>'


def _safe(text: str) -> str:
    return escape(make_safe(text))


CARD_FORMATS: Mapping[str, Callable[[PackCard], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "svg": as_svg,
    "html": as_html,
}
"""Functions that render a card, by the name of the format."""
FORMATS_BY_SUFFIX = {".txt": "text", ".md": "markdown", ".svg": "svg", ".html": "html"}
