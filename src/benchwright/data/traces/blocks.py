"""Checks that the number of a request's block ids fits the length of its prompt, and suggests a block size
that would fit.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from benchwright.errors import UserError


def block_ids(place: str, tokens: int | None, ids: Sequence[int], block_size: int) -> array[int]:
    """Return the block ids of a prompt of `tokens` tokens, as an array of 8 bytes per id.

    Published traces either have an id for the last, partial block (Mooncake: ceil(tokens / block_size) ids) or
    omit it (Weka: floor).

    Raises:
        UserError: If the number of ids is neither of these two, or an id is not a 64-bit number. The message
            names the place in the trace and a block size that would fit.
    """
    try:
        found = array("Q", ids)
    except OverflowError:
        raise UserError(f"{place}: ids of blocks are whole numbers from 0 to 2^64 - 1.") from None
    if tokens is None or len(found) in (0, -(-tokens // block_size), tokens // block_size):
        return found
    fitting = suggest_block_size(tokens, len(found))
    advice = f": --block-size {fitting} would fit." if fitting else "."
    raise UserError(
        f"{place}: {len(found):,} blocks of {block_size} tokens do not make {tokens:,} tokens{advice}"
    )


def suggest_block_size(tokens: int, ids: int) -> int | None:
    """Return a block size for which ceil(tokens / size) equals `ids`, preferably a power of two.

    Return None if there is no such size.
    """
    if ids < 1:
        return None
    lowest = -(-tokens // ids)
    highest = (tokens - 1) // (ids - 1) if ids > 1 else lowest
    if lowest > highest:
        return None
    power = 1 << (lowest - 1).bit_length()
    return power if power <= highest or ids == 1 else lowest
