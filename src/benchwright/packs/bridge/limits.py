"""Limits of a pack's process on time, memory and data."""

from __future__ import annotations

from benchwright.records import Record

MEBIBYTE = 2**20


class BridgeLimits(Record, frozen=True):
    """Limits of a pack's process. A scenario's own time limit is given with each run.

    `grace_seconds`: the time that a scenario has to end after its abort signal. `answer_seconds`: the time
    after which a process that does not answer a ping counts as stuck. `memory_bytes`: the memory of the
    process and of all processes that it starts, together. `message_bytes`: the maximum size of a result.
    `output_bytes`: how much of stdout and stderr together is kept.
    """

    load_seconds: float = 60.0
    prepare_seconds: float = 300.0
    score_seconds: float = 60.0
    dispose_seconds: float = 10.0
    grace_seconds: float = 5.0
    answer_seconds: float = 10.0
    memory_bytes: int = 4096 * MEBIBYTE
    message_bytes: int = 32 * MEBIBYTE
    output_bytes: int = 16 * MEBIBYTE


DEFAULT_LIMITS = BridgeLimits()
