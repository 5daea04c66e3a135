"""How much of a prompt an empty prefix cache would know by now: the blocks with which an earlier prompt began."""

from __future__ import annotations

from collections.abc import Sequence

import xxhash


class SeenPrefixes:
    """Prompts that came so far, in blocks; each block is known by a digest of all that stands up to its end."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def add(self, blocks: Sequence[bytes]) -> int:
        """Adds a prompt; returns with how many of its blocks an earlier one began."""
        digest, known = xxhash.xxh3_64(), 0
        for number, block in enumerate(blocks):
            digest.update(block)
            mark = digest.intdigest()
            if known == number and mark in self._seen:
                known += 1
            self._seen.add(mark)
        return known
