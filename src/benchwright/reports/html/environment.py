"""Jinja environment for all pages. It escapes text from outside, and makes hidden characters visible."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from benchwright.analysis.no_scores import remaining_failures, remove_shown_reason, unscored_scorers
from benchwright.analysis.thinking import completion_tokens_text
from benchwright.formats import (
    count_with_noun,
    figure_text,
    format_duration,
    format_interval,
    format_milliseconds,
    number_text,
)
from benchwright.reports.html.text import visible_text

if TYPE_CHECKING:
    from jinja2 import Environment


def html_environment(templates: Path) -> Environment:
    """Return an environment for the templates of a directory, with the filters of all pages.

    An undefined name in a template raises an error.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalised,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        figure_text=figure_text,
        number=number_text,
        milliseconds=format_milliseconds,
        duration=format_duration,
        count=_count,
        counted=count_with_noun,
        completion_tokens=completion_tokens_text,
        words=_words,
    )
    environment.globals.update(
        interval_of=format_interval,
        failures_left=remaining_failures,
        unscored=unscored_scorers,
        drop_reason=remove_shown_reason,
    )
    return environment


def _finalised(value: Any) -> Any:
    """Make hidden and control characters of a text visible, before the text is escaped.

    Every template expression passes through this function. None becomes an empty string.
    """
    if value is None:
        return ""
    return visible_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _count(value: int) -> str:
    return f"{value:,}"


def _words(name: str) -> str:
    """Return the name of a record's field as words: underscores become spaces."""
    return name.replace("_", " ")
