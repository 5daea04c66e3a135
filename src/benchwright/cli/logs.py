"""Log lines on stderr."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

from benchwright.secrets import SecretFilter
from benchwright.text import plain_lines


class _ToStderr(logging.StreamHandler[TextIO]):
    """Writes to what is stderr at the time; while there is a live display, that is above it."""

    def format(self, record: logging.LogRecord) -> str:
        return plain_lines(super().format(record))

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def set_up_logging(*, debug: bool) -> None:
    """Log lines to stderr, secrets replaced: warnings, with `debug` all. Once asked for, details stay."""
    handler = _ToStderr()
    handler.addFilter(SecretFilter())
    logging.basicConfig(
        level=logging.WARNING, handlers=[handler], format="%(levelname)s %(name)s: %(message)s"
    )
    if debug:
        logging.getLogger().setLevel(logging.DEBUG)
