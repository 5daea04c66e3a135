"""Keys that identify trials and scores, so that finished work is never repeated."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import Any

import msgspec
import xxhash

from benchwright.records import Record, Target

_encode = msgspec.json.Encoder(order="sorted").encode


def fingerprint(*parts: Any) -> str:
    """Return a digest (xxh3, 128 bits, hex) of plain values.

    It does not depend on the order of keys in dictionaries.
    """
    return xxhash.xxh3_128_hexdigest(_encode(parts))


def target_identity(target: Target) -> tuple[Any, ...]:
    """Return the properties that distinguish a target from other targets. The slot is not one of these
    properties.

    Headers are included only if the target has any.
    """
    return (target.model, target.base_url, target.settings, *([target.headers] if target.headers else []))


class SampleContent:
    """The content of a sample, encoded once for hashing.

    The sample's id and its position in the dataset are not part of the content.
    """

    def __init__(self, content: Any) -> None:
        self._content = xxhash.xxh3_128(b"[" + _encode(content))

    def digest(self, occurrence: int) -> bytes:
        """Return a digest of the content and of `occurrence`, the number of samples with equal content before
        this one.
        """
        whole = self._content.copy()
        whole.update(b",%d]" % occurrence)
        return whole.digest()


class TrialKeys:
    """Makes the keys of the trials of one task on one target.

    A key covers the sample's content, the target without secrets, the solver's fingerprint, the limits and the
    repeat. It does not cover the target's slot, so a model keeps its trials when it becomes the baseline.
    """

    def __init__(self, target: Target, solver_fingerprint: str, limits: Record) -> None:
        self._prefix = xxhash.xxh3_128_digest(_encode((*target_identity(target), solver_fingerprint, limits)))

    def trial_key(self, digest: bytes, repeat: int) -> str:
        """Return the key of one trial, 32 hex digits. `digest` is the digest of the sample's content."""
        return xxhash.xxh3_128_hexdigest(self._prefix + digest + repeat.to_bytes(4, "big"))


def score_key(trial_key: str, scorer: str, scorer_fingerprint: str) -> str:
    """Return the key of one score of one trial, 32 hex digits."""
    return xxhash.xxh3_128_hexdigest(f"{trial_key}\0{scorer}\0{scorer_fingerprint}".encode())


def key_prefix(key: str) -> int:
    """Return the 64 bits of a key by which `RowIndex` finds the key.

    They are its first 16 hex digits. If the key is not hexadecimal (from another program), they are a digest of
    the key.
    """
    try:
        return int.from_bytes(bytes.fromhex(key[:16]), "big")
    except ValueError:
        return xxhash.xxh3_64_intdigest(key.encode("utf-8", "surrogatepass"))


MAX_RECENT_ROWS = 8_192
"""Maximum size of each of two dictionaries from keys to recent rows.

The dictionaries are searched before the sorted arrays of older rows. A score is journalled soon after its
trial, so the row of its trial is usually recent.
"""


class RowIndex:
    """Index that maps the first 64 bits of keys to rows. After `release_keys`, it can neither find nor add rows."""

    def __init__(self) -> None:
        self._released: int | None = None
        self._keys = array("Q")
        self._late: dict[int, int] = {}
        self._later: dict[int, int] = {}
        self._sorted, self._order = array("Q"), array("I")

    def __len__(self) -> int:
        return len(self._keys) if self._released is None else self._released

    def release_keys(self) -> None:
        """Free the memory of the keys, 8 to 20 bytes per row."""
        self._released = len(self)
        self._keys, self._sorted, self._order = array("Q"), array("Q"), array("I")
        self._late, self._later = {}, {}

    def add_key(self, key: str) -> int:
        """Add a key and return its row."""
        assert self._released is None
        prefix = key_prefix(key)
        row = len(self._keys)
        self._keys.append(prefix)
        if len(self._late) >= MAX_RECENT_ROWS:
            self._later, self._late = self._late, {}
        self._late[prefix] = row
        return row

    def find_row(self, key: str) -> int | None:
        """Return the row of a key. None if the key is unknown."""
        assert self._released is None
        prefix = key_prefix(key)
        row = self._late.get(prefix)
        if row is None:
            row = self._later.get(prefix)
        return self._find_sorted(prefix) if row is None else row

    def _find_sorted(self, prefix: int) -> int | None:
        if len(self._sorted) < len(self._keys) - len(self._late) - len(self._later):
            self._sort()
        place = bisect_left(self._sorted, prefix)
        found = place < len(self._sorted) and self._sorted[place] == prefix
        return self._order[place] if found else None

    def _sort(self) -> None:
        import numpy as np

        keys = np.array(self._keys, np.uint64)
        order = np.argsort(keys, kind="stable")
        self._sorted, self._order = array("Q"), array("I")
        self._sorted.frombytes(keys[order].tobytes())
        self._order.frombytes(order.astype(np.uint32).tobytes())
