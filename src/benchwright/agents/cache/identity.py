"""Identifies the configuration of a cache file by a digest of all settings that affect its results."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import xxhash

TASK_ID_DIGITS = 12


def config_hash(config: Mapping[str, Any]) -> str:
    """Return the digest (xxh3, 128 bits, hex) of a configuration. The order of its keys does not matter.

    Values that are None are left out. -0.0 counts as 0.0.

    Raises:
        ValueError: If a number is not finite.
    """
    plain = {key: _normalised(value) for key, value in config.items() if value is not None}
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return xxhash.xxh3_128_hexdigest(text.encode("utf-8", "surrogatepass"))


def task_id(digest: str) -> str:
    """Return the shortened digest of a configuration, used in the names of cache files."""
    return digest[:TASK_ID_DIGITS]


def _normalised(value: Any) -> Any:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"a configuration cannot hold {value}")
        return value + 0.0
    if isinstance(value, Mapping):
        return {str(key): _normalised(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_normalised(item) for item in value]
    return value
