"""Simulated prefix cache: how many blocks of a prompt would a cache that was empty at first already hold?"""

from __future__ import annotations

from collections.abc import Sequence

import xxhash


class SeenPrefixes:
    """The prefixes of all prompts so far, in blocks.

    Each prefix is stored as a digest of the prompt up to the end of a block.
    """

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def add(self, blocks: Sequence[bytes]) -> int:
        """Add a prompt. Return how many of its first blocks it shares with an earlier prompt."""
        digest, known = xxhash.xxh3_64(), 0
        for number, block in enumerate(blocks):
            digest.update(block)
            mark = digest.intdigest()
            if known == number and mark in self._seen:
                known += 1
            self._seen.add(mark)
        return known
