"""Renders pages from templates, with all values escaped. Provides the static files."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from aiohttp import web
from jinja2 import Environment

from benchwright.reports.html.environment import html_environment
from benchwright.reports.html.page_style import TEMPLATES_FOLDER as REPORT_TEMPLATES
from benchwright.reports.html.text import one_line
from benchwright.web import text

WEB_FOLDER = Path(__file__).parent

STATIC_FILES = {
    "view.css": "text/css",
    "shared.css": "text/css",
    "view.js": "text/javascript",
    "keys.js": "text/javascript",
    "live.js": "text/javascript",
    "trial.js": "text/javascript",
    "replay.js": "text/javascript",
    "bridge.js": "text/javascript",
    "chat.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
"""The static files: name of the file -> its content type."""


@cache
def template_environment() -> Environment:
    """Return the environment of the viewer's templates, with its filters and functions."""
    made = html_environment(WEB_FOLDER / "templates")
    made.filters.update(percent=text.percent_text, moment=text.format_time, one_line=one_line)
    made.globals.update(
        address=text.viewer_address, load_address=text.load_page_address, static=static_address
    )
    return made


def render_page(template: str, *, status: int = 200, **values: Any) -> web.Response:
    """Render a template as a response."""
    html = template_environment().get_template(template).render(**values)
    return web.Response(
        body=html.encode("utf-8", "replace"), status=status, content_type="text/html", charset="utf-8"
    )


@cache
def read_static_file(name: str) -> bytes:
    """Return the content of a static file. The style of charts is the style that reports have."""
    return (REPORT_TEMPLATES / name if name == "shared.css" else WEB_FOLDER / "static" / name).read_bytes()


@cache
def static_address(name: str) -> str:
    """Return the address of a static file. If the content of the file changes, its address changes, too."""
    return f"/static/{name}?v={hashlib.sha256(read_static_file(name)).hexdigest()[:10]}"
