"""Readings of metrics during a level, stored beside its journal: the server's own metrics, and the power of
its devices.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from benchwright.endpoint.metrics_poller import ServerMetrics
from benchwright.endpoint.power import PowerReading
from benchwright.files import write_atomically
from benchwright.records import DECODE_ERRORS, Record
from benchwright.runs.journal import encode_json

SERVER_METRICS_FILE = "server.json"
POWER_FILE = "power.json"

ReadingType = TypeVar("ReadingType", bound=Record)


def write_server_metrics(directory: Path, looks: Sequence[ServerMetrics]) -> None:
    """Write the readings of the server's metrics beside the journal, if there are any.

    Raises:
        UserError: If the file cannot be written.
    """
    _keep(directory / SERVER_METRICS_FILE, looks)


def read_server_metrics(directory: Path) -> list[ServerMetrics]:
    """Read the server metrics of a run. Empty if there are none, or if they cannot be read."""
    return _read(directory / SERVER_METRICS_FILE, ServerMetrics)


def write_power(directory: Path, readings: Sequence[PowerReading]) -> None:
    """Write the power readings beside the journal, if there are any.

    Raises:
        UserError: If the file cannot be written.
    """
    _keep(directory / POWER_FILE, readings)


def read_power(directory: Path) -> list[PowerReading]:
    """Read the power readings of a run. Empty if there are none, or if they cannot be read."""
    return _read(directory / POWER_FILE, PowerReading)


def _keep(path: Path, seen: Sequence[Record]) -> None:
    if seen:
        write_atomically(path, encode_json(list(seen)))


def _read(path: Path, kind: type[ReadingType]) -> list[ReadingType]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[kind])  # type: ignore[valid-type]  # a type made from a variable
    except (OSError, *DECODE_ERRORS):
        return []
