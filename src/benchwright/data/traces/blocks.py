"""Whether the ids of a request's blocks fit its length, and which block size would."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from benchwright.errors import UserError


def block_ids(place: str, tokens: int | None, ids: Sequence[int], block_size: int) -> array[int]:
    """The ids of a prompt of so many tokens, in 8 bytes each.

    Published traces have an id for the last, partial block (Mooncake: ceil), or none for it (Weka: floor).

    Raises:
        UserError: they are neither, or no ids of 64 bits; names the place, and the block size that would fit.
    """
    try:
        found = array("Q", ids)
    except OverflowError:
        raise UserError(f"{place}: ids of blocks are whole numbers from 0 to 2^64 - 1.") from None
    if tokens is None or len(found) in (0, -(-tokens // block_size), tokens // block_size):
        return found
    fitting = fitting_size(tokens, len(found))
    advice = f": --block-size {fitting} would fit." if fitting else "."
    raise UserError(
        f"{place}: {len(found):,} blocks of {block_size} tokens do not make {tokens:,} tokens{advice}"
    )


def fitting_size(tokens: int, ids: int) -> int | None:
    """The block size with which ceil(tokens / size) is `ids`, a power of two if one will do; None where none will."""
    if ids < 1:
        return None
    lowest = -(-tokens // ids)
    highest = (tokens - 1) // (ids - 1) if ids > 1 else lowest
    if lowest > highest:
        return None
    power = 1 << (lowest - 1).bit_length()
    return power if power <= highest or ids == 1 else lowest
