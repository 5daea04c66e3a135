"""Deprecated name of `benchwright.data.dataset_spec`, for plugins of version 0.1. Removed in the next version."""

from __future__ import annotations

import warnings
from typing import Any

from benchwright.data import dataset_spec


def __getattr__(name: str) -> Any:
    """Return a name of `dataset_spec`.

    Raises:
        AttributeError: If `dataset_spec` has no such name.
    """
    found = getattr(dataset_spec, name)
    warnings.warn(
        "benchwright.data.declared is now benchwright.data.dataset_spec", DeprecationWarning, stacklevel=2
    )
    return found
