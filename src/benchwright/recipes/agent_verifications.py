"""Results of the last test of each agent with the real program, read from `sightings.toml`."""

from __future__ import annotations

import datetime
import tomllib
from functools import cache
from pathlib import Path

import msgspec

from benchwright.records import Record

_FILE = Path(__file__).with_name("sightings.toml")


class AgentVerification(Record, frozen=True, omit_defaults=False):
    """The last test of one agent with the real program.

    `version`: the tested version. `date`: the day of the test. `points`: names of the properties that the
    test confirmed, such as "settings" or "ends". A comment in `sightings.toml` explains each name.
    """

    version: str
    date: datetime.date
    points: tuple[str, ...]


@cache
def read_verifications() -> dict[str, AgentVerification]:
    """Return the last test of each shipped agent: a mapping from the agent's name to the test."""
    return msgspec.convert(
        tomllib.loads(_FILE.read_text(encoding="utf-8")), dict[str, AgentVerification], strict=False
    )
