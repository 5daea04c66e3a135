"""Templates to pages: everything is escaped, whoever wrote it."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from aiohttp import web
from jinja2 import Environment, PackageLoader, StrictUndefined

from benchwright.reports.text import duration, milliseconds, number
from benchwright.web import text

STATIC = {
    "view.css": "text/css",
    "charts.css": "text/css",
    "view.js": "text/javascript",
    "keys.js": "text/javascript",
    "live.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
"""The files of our own that are served, and what they are."""


@cache
def environment() -> Environment:
    """The templates, and the words that they know."""
    made = Environment(
        loader=PackageLoader("benchwright.web"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=text.finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "duration": duration,
        "milliseconds": milliseconds,
        "number": number,
        "percent": text.percent,
        "moment": text.moment,
        "words": text.words,
        "one_line": text.one_line,
        "count": lambda value: f"{value:,}",
    }
    made.globals |= {"address": text.address, "static": static_address}
    return made


def page(template: str, *, status: int = 200, **values: Any) -> web.Response:
    """A template as an answer."""
    html = environment().get_template(template).render(**values)
    return web.Response(
        body=html.encode("utf-8", "replace"), status=status, content_type="text/html", charset="utf-8"
    )


@cache
def static_file(name: str) -> bytes:
    """One of our own files."""
    return files("benchwright.web").joinpath("static", name).read_bytes()


@cache
def static_address(name: str) -> str:
    """Where one of our own files is served; changes with its content."""
    return f"/static/{name}?v={hashlib.sha256(static_file(name)).hexdigest()[:10]}"
