"""Points that were last found to hold for each agent, by tests with real agents: `sightings.toml`."""

from __future__ import annotations

import datetime
import tomllib
from functools import cache
from pathlib import Path

import msgspec

from benchwright.records import Record

_FILE = Path(__file__).with_name("sightings.toml")


class AgentVerification(Record, frozen=True, omit_defaults=False):
    """The last test of one agent: its version, the day, and the points that held.

    The comment in the file explains each point.
    """

    version: str
    date: datetime.date
    points: tuple[str, ...]


@cache
def read_verifications() -> dict[str, AgentVerification]:
    """Return the last test of each shipped agent, by name."""
    return msgspec.convert(
        tomllib.loads(_FILE.read_text(encoding="utf-8")), dict[str, AgentVerification], strict=False
    )
