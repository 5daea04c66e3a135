"""Control over glibc's memory allocator, so that freed memory returns to the system. No effect on other systems.

By default, glibc raises its mmap threshold to the size of each large block that is freed, up to 32 MB (mallopt(3)).
The columns of a table with a million trials are then allocated among small blocks, and the process keeps their
memory after the columns are freed.
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


def can_release_memory() -> bool:
    """Return True if the allocator is glibc's, which returns freed memory to the system on request."""
    return _library() is not None


def lower_mmap_threshold() -> None:
    """Let glibc map each block of at least 256 kB separately from now on: freeing a block then returns its memory."""
    if (library := _library()) is not None:
        library.mallopt(_MMAP_THRESHOLD, _LARGE)


def release_free_memory() -> None:
    """Return the free pages between small blocks to the system."""
    if (library := _library()) is not None:
        library.malloc_trim(0)
