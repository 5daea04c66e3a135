"""Seeds of repeats.

If repeats had equal seeds, a server that honours seeds would give the same answer to each repeat.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xxhash


def repeat_seed(seed: int, repeat: int) -> int:
    """Return the seed of a repeat: the run's seed for the first repeat.

    For further repeats, it is 31 bits of a digest of the run's seed and the repeat's number. Every server
    accepts 31 bits. With `seed + repeat`, two runs with neighbouring seeds would share repeats.
    """
    return seed if repeat == 0 else xxhash.xxh3_64_intdigest(f"{seed}:{repeat}".encode()) >> 33


def with_repeat_seed(settings: Mapping[str, Any], repeat: int) -> dict[str, Any]:
    """Return the settings of a repeat. If they contain a seed, it is replaced by the repeat's own seed."""
    seed = storable_seed(settings.get("seed"))
    return {**settings, "seed": repeat_seed(seed, repeat)} if seed is not None else dict(settings)


def storable_seed(seed: Any) -> int | None:
    """Return a seed if the journal can store it: if it is a 64-bit integer. Return None otherwise."""
    return seed if type(seed) is int and -(2**63) <= seed < 2**63 else None
