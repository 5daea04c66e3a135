"""Seeds: each repeat of a sample is sent one of its own, or else a server that honours it gives equal answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xxhash


def repeat_seed(seed: int, repeat: int) -> int:
    """The seed of a repeat: the first has that of the run, each further one 31 bits of a digest of both.

    31 bits are what every server takes. With `seed + repeat`, two runs with neighbouring seeds would share repeats.
    """
    return seed if repeat == 0 else xxhash.xxh3_64_intdigest(f"{seed}:{repeat}".encode()) >> 33


def seeded(settings: Mapping[str, Any], repeat: int) -> dict[str, Any]:
    """The body fields of a repeat's requests: these, with the seed of the repeat if they hold one."""
    seed = recorded_seed(settings.get("seed"))
    return {**settings, "seed": repeat_seed(seed, repeat)} if seed is not None else dict(settings)


def recorded_seed(seed: Any) -> int | None:
    """A seed as the journal can hold it: a whole number of 64 bits; None for anything else."""
    return seed if type(seed) is int and -(2**63) <= seed < 2**63 else None
