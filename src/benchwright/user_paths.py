"""Handles paths as users type them."""

from __future__ import annotations

import os
from pathlib import Path


def expand_user_path(path: str | os.PathLike[str]) -> Path:
    """Return the path with `~` and `~NAME` replaced by home directories.

    `~NAME` stays unchanged if there is no user of that name.
    """
    return Path(os.path.expanduser(path))
