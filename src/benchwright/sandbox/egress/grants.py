"""Who may use the proxy: a grant for a phase of a trial; and the log of what it was asked for."""

from __future__ import annotations

import secrets
import time
from typing import Literal

import msgspec

from benchwright.sandbox.egress.hosts import Policy

Phase = Literal["agent", "tests"]

MOST_ENTRIES = 1000
"""Connections that the log of a trial names one by one."""


class Connection(msgspec.Struct, omit_defaults=True):
    """One connection that a container asked for, in the log of its trial.

    `time` is when, in seconds since 1970; `seconds` how long it lasted. `sent` and `received` are bytes, seen from the
    container. `why` says why it was refused, or what failed.
    """

    time: float
    phase: Phase
    host: str
    port: int
    allowed: bool = True
    why: str = ""
    sent: int = 0
    received: int = 0
    seconds: float = 0.0


class Traffic:
    """The log of one trial: its connections, and how many more there were than it names."""

    def __init__(self) -> None:
        self.connections: list[Connection] = []
        self.left_out = 0

    def begin(self, phase: Phase, host: str, port: int, why: str = "") -> Connection:
        """A connection that begins now, or with `why` is refused."""
        entry = Connection(round(time.time(), 3), phase, host, port, allowed=not why, why=why)
        if len(self.connections) < MOST_ENTRIES:
            self.connections.append(entry)
        else:
            self.left_out += 1
        return entry

    def refused(self, phase: Phase | None = None) -> list[Connection]:
        """The refused ones, of one phase or all."""
        return [one for one in self.connections if not one.allowed and phase in (None, one.phase)]


class Grant:
    """What a `token` opens, in one phase. `policy` may change while it is open; None lets nothing through."""

    def __init__(self, phase: Phase, policy: Policy | None) -> None:
        self.token = secrets.token_urlsafe(18)
        self.phase: Phase = phase
        self.policy = policy
