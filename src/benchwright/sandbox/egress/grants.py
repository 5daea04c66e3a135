"""Grants to use the proxy for a phase of a trial, and the log of connections."""

from __future__ import annotations

import secrets
import time
from typing import Literal

import msgspec

from benchwright.sandbox.egress.hosts import EgressPolicy

TrialPhase = Literal["agent", "tests"]

MOST_ENTRIES = 1000
"""Maximum number of connections listed in a trial's log."""


class Connection(msgspec.Struct, omit_defaults=True):
    """One connection requested by a container, as an entry of its trial's log.

    `time` is its start in seconds since 1970, `seconds` its duration. `sent` and `received` are bytes, as
    seen from the container. `why` is the reason why it was refused or failed.
    """

    time: float
    phase: TrialPhase
    host: str
    port: int
    allowed: bool = True
    why: str = ""
    sent: int = 0
    received: int = 0
    seconds: float = 0.0


class ConnectionLog:
    """The log of one trial's connections. `unlisted_count`: number of connections not listed because it is full."""

    def __init__(self) -> None:
        self.connections: list[Connection] = []
        self.unlisted_count = 0

    def add_connection(self, phase: TrialPhase, host: str, port: int, why: str = "") -> Connection:
        """Add a connection to the log. It begins now or, if `why` is given, is refused for that reason."""
        entry = Connection(round(time.time(), 3), phase, host, port, allowed=not why, why=why)
        if len(self.connections) < MOST_ENTRIES:
            self.connections.append(entry)
        else:
            self.unlisted_count += 1
        return entry

    def refused_connections(self, phase: TrialPhase | None = None) -> list[Connection]:
        """Return the refused connections of one phase, or of all phases if it is None."""
        return [one for one in self.connections if not one.allowed and phase in (None, one.phase)]


class Grant:
    """Permission to use the proxy in one phase of a trial, for whoever has its `token`.

    `policy` (the allowed hosts) may change meanwhile; None blocks everything.
    """

    def __init__(self, phase: TrialPhase, policy: EgressPolicy | None) -> None:
        self.token = secrets.token_urlsafe(18)
        self.phase: TrialPhase = phase
        self.policy = policy
