"""Text for pages: numbers, times, addresses and names of downloads."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

MAX_PAGE_TEXT_LENGTH = 100_000
"""Maximum number of characters of one text on a page."""


def safe_file_name(text: str) -> str:
    """Convert a text to a part of a file name. Only letters, digits, dashes and underscores remain."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:80] or "sample"


def viewer_address(path: str, **query: Any) -> str:
    """Return an address within this viewer.

    Empty values are left out of the query. A list of values becomes repeated parameters.
    """
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given, doseq=True, errors='replace')}" if given else path


def load_page_address(tag: str, **query: Any) -> str:
    """Return the address of the page of a load measurement."""
    return viewer_address(f"/loads/{quote(tag, safe='', errors='replace')}", **query)


def format_time(nanoseconds: int) -> str:
    """Format a wall-clock time (nanoseconds since the epoch) in UTC, to the second."""
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S")


def percent_text(value: float | None) -> str:
    """Format a share as a percentage. Return a dash if the share is unknown."""
    return "–" if value is None else f"{value:.1%}"
