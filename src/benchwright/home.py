"""Where everything of ours is kept on this machine."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """$BENCHWRIGHT_HOME, or the user's data directory."""
    if chosen := os.environ.get("BENCHWRIGHT_HOME"):
        return Path(chosen).expanduser().resolve()
    import platformdirs

    return Path(platformdirs.user_data_dir("benchwright"))
