"""What makes a page whole by itself: its style within it, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"

SHEETS = ("palette.css", "shared.css", "report.css")

GENERATOR = "benchwright report"
"""By this a file is known as one of ours."""


class Sheet(NamedTuple):
    """The style of a page, and its content security policy: no script, nothing loaded, no other style,
    and no pictures but those within it."""

    style: Markup
    policy: str


@cache
def sheet() -> Sheet:
    """The style of reports and leaderboards."""
    style = "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in SHEETS)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    own = f"style-src 'sha256-{digest}'; img-src data:"
    policy = f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
    return Sheet(Markup(style), policy)
