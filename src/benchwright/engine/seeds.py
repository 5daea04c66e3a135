"""Seeds of repeats. With equal seeds, a server that honours them would give the same answer to each repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xxhash


def repeat_seed(seed: int, repeat: int) -> int:
    """Return the seed of a repeat: the run's seed for the first, 31 bits of a digest of both for the others.

    Every server accepts 31 bits. With `seed + repeat`, two runs with neighbouring seeds would share repeats.
    """
    return seed if repeat == 0 else xxhash.xxh3_64_intdigest(f"{seed}:{repeat}".encode()) >> 33


def with_repeat_seed(settings: Mapping[str, Any], repeat: int) -> dict[str, Any]:
    """Return a repeat's body fields: the settings, with the repeat's own seed if they contain a seed."""
    seed = storable_seed(settings.get("seed"))
    return {**settings, "seed": repeat_seed(seed, repeat)} if seed is not None else dict(settings)


def storable_seed(seed: Any) -> int | None:
    """Return a seed if the journal can store it, that is, if it is a 64-bit integer; else None."""
    return seed if type(seed) is int and -(2**63) <= seed < 2**63 else None
