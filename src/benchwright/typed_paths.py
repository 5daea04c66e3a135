"""Paths as people type them."""

from __future__ import annotations

import os
from pathlib import Path


def typed_path(path: str | os.PathLike[str]) -> Path:
    """The path, `~` and `~NAME` replaced by home directories; where there is no such user it stays as it was typed."""
    return Path(os.path.expanduser(path))
