"""Logging to stderr."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

from benchwright.secrets import SecretFilter
from benchwright.text import make_lines_safe


class _ToStderr(logging.StreamHandler[TextIO]):
    """Log handler that writes to the value that `sys.stderr` has at the moment.

    So its lines appear above a live display.
    """

    def format(self, record: logging.LogRecord) -> str:
        return make_lines_safe(super().format(record))

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def set_up_logging(*, debug: bool) -> None:
    """Log to stderr, with secrets replaced. Log everything if `debug`, and only warnings otherwise.

    A later call without `debug` does not turn debug logging off.
    """
    handler = _ToStderr()
    handler.addFilter(SecretFilter())
    logging.basicConfig(
        level=logging.WARNING, handlers=[handler], format="%(levelname)s %(name)s: %(message)s"
    )
    if debug:
        logging.getLogger().setLevel(logging.DEBUG)
