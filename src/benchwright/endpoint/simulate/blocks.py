"""Digests of the blocks of a prompt, for prefix caches.

This module is imported only if there is a prefix cache, because numpy loads slowly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xxhash


def block_digests(prompt: str, answer: Sequence[str], size: int) -> list[int]:
    """Return a digest for each full block of `size` words.

    The words are those of `prompt`, separated by single blanks, followed by those of `answer`. Each digest
    covers all words from the beginning of the prompt to the end of the block.
    """
    text = prompt.encode()
    blanks = np.flatnonzero(np.frombuffer(text, np.uint8) == ord(" "))
    digests, digest, start = list[int](), 0, 0
    for end in blanks[size - 1 :: size].tolist():
        digest = xxhash.xxh3_64_intdigest(text[start:end], seed=digest)
        digests.append(digest)
        start = end + 1
    words = [*text[start:].decode().split(), *answer]
    for last in range(size, len(words) + 1, size):
        digest = xxhash.xxh3_64_intdigest(" ".join(words[last - size : last]).encode(), seed=digest)
        digests.append(digest)
    return digests
