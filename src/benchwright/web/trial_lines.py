"""The lines of a journal with no more of them decoded than a table of trials needs."""

from __future__ import annotations

from typing import Any

import msgspec

from benchwright.records import Status


class LeanRequest(msgspec.Struct, gc=False):
    """See `records.RequestRecord`."""

    role: str = "model"
    total: int = 0
    ttft: int | None = None
    error: str | None = None


class LeanTrial(msgspec.Struct, gc=False, tag="trial"):
    """See `records.TrialRecord`."""

    key: str
    sample: str
    target: str
    status: Status
    repeat: int = 0
    group: str | None = None
    labels: dict[str, str] = {}
    scores: dict[str, float] = {}
    requests: list[LeanRequest] = []
    duration: int = 0


class LeanScore(msgspec.Struct, gc=False, tag="score"):
    """See `records.ScoreRecord`."""

    trial: str
    scorer: str
    value: float | None = None
    status: Status = Status.SCORED


class LeanRequestEvent(msgspec.Struct, gc=False, tag="request"):
    """See `records.RequestEvent`."""


class LeanEvent(msgspec.Struct, gc=False, tag="event"):
    """See `records.RunEvent`."""

    name: str
    at: int
    detail: dict[str, Any] = {}


LeanLine = LeanTrial | LeanScore | LeanRequestEvent | LeanEvent

decode_lean = msgspec.json.Decoder(LeanLine).decode
