"""The style sheet that is embedded in self-contained pages, and the content security policy of such pages."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

TEMPLATES_FOLDER = Path(__file__).parent / "templates"

STYLE_FILES = ("palette.css", "shared.css", "report.css")

GENERATOR_TAG = "benchwright report"
"""Value of a page's `generator` tag, by which Benchwright recognises files that it made."""


class PageStyle(NamedTuple):
    """The style of a page, and the content security policy of that page.

    The policy forbids scripts, loading, other styles, and all images except embedded ones.
    """

    style: Markup
    policy: str


@cache
def report_style() -> PageStyle:
    """Return the style and the content security policy of reports and leaderboards."""
    style = "".join((TEMPLATES_FOLDER / name).read_text(encoding="utf-8") for name in STYLE_FILES)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    own = f"style-src 'sha256-{digest}'; img-src data:"
    policy = f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
    return PageStyle(Markup(style), policy)
