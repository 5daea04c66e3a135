"""Simulates a prefix cache that is empty at the beginning: how many blocks of a prompt does it already hold?"""

from __future__ import annotations

from collections.abc import Sequence

import xxhash


class SeenPrefixes:
    """Set of the prefixes of all prompts so far.

    A prefix is a sequence of whole blocks from the beginning of a prompt. Each prefix is stored as a digest.
    """

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def add(self, blocks: Sequence[bytes]) -> int:
        """Add a prompt. Return the number of blocks at its beginning that it shares with an earlier prompt."""
        digest, known = xxhash.xxh3_64(), 0
        for number, block in enumerate(blocks):
            digest.update(block)
            mark = digest.intdigest()
            if known == number and mark in self._seen:
                known += 1
            self._seen.add(mark)
        return known
