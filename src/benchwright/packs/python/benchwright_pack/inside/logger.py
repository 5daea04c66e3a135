"""`HostContext.logger`: debug, info, warn and error, each with a message and optional data."""

from __future__ import annotations

import json
from typing import Any

from .calls import CURRENT
from .channel import Channel
from .values import to_json

LONGEST_MESSAGE = 16384
LARGEST_DATA = 65536


class Logger:
    """Logger whose entries go to the host's log."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def debug(self, message: object, data: Any = None) -> None:
        """Log a message for debugging."""
        self._write("debug", message, data)

    def info(self, message: object, data: Any = None) -> None:
        """Log an event."""
        self._write("info", message, data)

    def warn(self, message: object, data: Any = None) -> None:
        """Log a possible problem."""
        self._write("warn", message, data)

    warning = warn

    def error(self, message: object, data: Any = None) -> None:
        """Log an error."""
        self._write("error", message, data)

    def _write(self, level: str, message: object, data: Any) -> None:
        try:
            text, _ = to_json(data)
        except (TypeError, ValueError):
            text = '"(data that cannot be shown)"'
        if len(text) > LARGEST_DATA:
            text = f'"(more than {LARGEST_DATA} characters)"'
        said = json.dumps(str(message)[:LONGEST_MESSAGE])
        self._channel.send(CURRENT.get(), "log", f'["{level}",{said},{text}]')
