"""glibc's allocator, told to give memory back; on other systems nothing happens.

By itself it raises the size from which blocks are mapped on their own with each large one that is freed, up to 32 MB
(mallopt(3)): columns of a million trials then lie among small blocks, and what is freed between them stays.
"""

from __future__ import annotations

import ctypes
from functools import cache

_MMAP_THRESHOLD = -3
_LARGE = 256 * 1024


@cache
def _library() -> ctypes.CDLL | None:
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None


def keep_large_blocks_apart() -> None:
    """From now on each block from 256 kB is mapped on its own, and given back as soon as it is free."""
    if (library := _library()) is not None:
        library.mallopt(_MMAP_THRESHOLD, _LARGE)


def give_back() -> None:
    """Gives back the pages between small blocks that are free."""
    if (library := _library()) is not None:
        library.malloc_trim(0)
