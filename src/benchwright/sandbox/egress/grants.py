"""Grants to use the proxy for a phase of a trial, and the log of connections."""

from __future__ import annotations

import secrets
import time
from typing import Literal

import msgspec

from benchwright.sandbox.egress.hosts import EgressPolicy

TrialPhase = Literal["agent", "tests"]

MAX_LOGGED_CONNECTIONS = 1000
"""Maximum number of connections listed in a trial's log."""


class ConnectionEntry(msgspec.Struct, omit_defaults=True):
    """One connection requested by a container, as an entry of its trial's log.

    `time`: the start in seconds since 1970. `seconds`: the duration. `sent`, `received`: the number of bytes
    sent and received by the container. `why`: the reason why the connection was refused or failed, or "".
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
    """The log of one trial's connections.

    `unlisted_count`: the number of connections that are not listed, because the log is full.
    """

    def __init__(self) -> None:
        self.connections: list[ConnectionEntry] = []
        self.unlisted_count = 0

    def add_connection(self, phase: TrialPhase, host: str, port: int, why: str = "") -> ConnectionEntry:
        """Add a connection to the log. If `why` is given, the connection is refused for that reason.

        If `why` is "", the connection is allowed and begins now.
        """
        entry = ConnectionEntry(round(time.time(), 3), phase, host, port, allowed=not why, why=why)
        if len(self.connections) < MAX_LOGGED_CONNECTIONS:
            self.connections.append(entry)
        else:
            self.unlisted_count += 1
        return entry

    def refused_connections(self, phase: TrialPhase | None = None) -> list[ConnectionEntry]:
        """Return the refused connections of one phase. If `phase` is None, return those of all phases."""
        return [one for one in self.connections if not one.allowed and phase in (None, one.phase)]


class Grant:
    """Permission to use the proxy in one phase of a trial, for every program that has its `token`.

    `policy`: the allowed hosts, which may change during the phase; None blocks everything.
    """

    def __init__(self, phase: TrialPhase, policy: EgressPolicy | None) -> None:
        self.token = secrets.token_urlsafe(18)
        self.phase: TrialPhase = phase
        self.policy = policy
