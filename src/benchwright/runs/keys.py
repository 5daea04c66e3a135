"""Keys: what makes two trials, or two scores, the same, so that finished work is never asked for twice."""

from __future__ import annotations

from typing import Any

import msgspec
import xxhash

from benchwright.records import Record, Sample, Target

_encode = msgspec.json.Encoder(order="sorted").encode


def fingerprint(*parts: Any) -> str:
    """A digest (xxh3, 128 bits, hex) of plain values; the order of dictionary keys does not matter."""
    return xxhash.xxh3_128_hexdigest(_encode(parts))


class SampleContent(Record, frozen=True):
    """A sample's content, digested once for all trials of the sample."""

    digest: bytes

    @classmethod
    def of(cls, sample: Sample) -> SampleContent:
        """Digests content and occurrence; the sample's id and place in the dataset do not matter."""
        return cls(xxhash.xxh3_128_digest(_encode((sample.content, sample.occurrence))))


class TrialKeys:
    """Makes the keys of trials of one task against one target.

    A key covers the sample's content, the target without secrets, the solver's fingerprint, the limits and
    the repeat. The target's slot is not part of it: a model keeps its trials when it becomes the baseline.
    """

    def __init__(self, target: Target, solver_fingerprint: str, limits: Record) -> None:
        self._prefix = xxhash.xxh3_128_digest(
            _encode((target.model, target.base_url, target.settings, solver_fingerprint, limits))
        )

    def key(self, content: SampleContent, repeat: int) -> str:
        """The key of one trial, 32 hex digits."""
        return xxhash.xxh3_128_hexdigest(self._prefix + content.digest + repeat.to_bytes(4, "big"))


def score_key(trial_key: str, scorer: str, scorer_fingerprint: str) -> str:
    """The key of one score of one trial, 32 hex digits."""
    return xxhash.xxh3_128_hexdigest(f"{trial_key}\0{scorer}\0{scorer_fingerprint}".encode())


def key_prefix(key: str) -> int:
    """64 bits of a key, by which it is found: its first 16 digits, or a digest of what is no key of ours."""
    try:
        return int(key[:16], 16)
    except ValueError:
        return xxhash.xxh3_64_intdigest(key.encode("utf-8", "surrogatepass"))
