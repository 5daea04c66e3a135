"""The embedded style sheet of self-contained pages, and their content security policy."""

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
"""Value of a page's `generator` tag, by which Benchwright recognises files that it made."""


class Sheet(NamedTuple):
    """The style of a page, and its content security policy.

    The policy forbids scripts, loading, other styles, and all images except embedded ones.
    """

    style: Markup
    policy: str


@cache
def sheet() -> Sheet:
    """Return the style and policy of reports and leaderboards."""
    style = "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in SHEETS)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    own = f"style-src 'sha256-{digest}'; img-src data:"
    policy = f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
    return Sheet(Markup(style), policy)
