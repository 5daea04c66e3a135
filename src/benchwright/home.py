"""Where everything of ours is kept on this machine: the one reader of BENCHWRIGHT_HOME."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from benchwright.typed_paths import typed_path


def chosen_home(environ: Mapping[str, str] = os.environ) -> Path | None:
    """$BENCHWRIGHT_HOME as an absolute path; None where it is unset or empty."""
    chosen = environ.get("BENCHWRIGHT_HOME")
    return typed_path(chosen).resolve() if chosen else None


def home() -> Path:
    """$BENCHWRIGHT_HOME, or the user's data directory."""
    chosen = chosen_home()
    if chosen is not None:
        return chosen
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.environ.get("HOME", ""), ".local/share")
    if sys.platform == "linux" and data.startswith("/"):
        return Path(data, "benchwright")  # what platformdirs says too, whose import takes 5 ms
    import platformdirs

    return Path(platformdirs.user_data_dir("benchwright", appauthor=False))


def runs_directory() -> Path:
    """Where runs are, a directory each."""
    return home() / "runs"


def given_rows_directory() -> Path:
    """Where datasets are kept that were given as rows and not as a file."""
    return home() / "rows"


def packs_directory() -> Path:
    """Where packs are installed."""
    return home() / "packs"


def web_sessions_directory() -> Path:
    """Where the pages of web packs save what they save, a directory for each pack."""
    return home() / "web-sessions"


def packs_file() -> Path:
    """Our own file with providers, models, verifiers and the registry of packs."""
    return home() / "packs.toml"


def recommended_file() -> Path:
    """The user's own settings of model families."""
    return home() / "recommended.toml"


def suites_directory() -> Path:
    """The user's own suites, by name."""
    return home() / "suites"


def packs_cache() -> Path:
    """Where packs may write outside a run."""
    return home() / "cache" / "packs"


def pack_libraries() -> Path:
    """The libraries that the desktop host puts beside every pack, as npm lays them out."""
    return packs_cache() / "libraries"


def images_directory() -> Path:
    """Where it is noted which images of containers are ours."""
    return home() / "images"


def golds_directory() -> Path:
    """Where it is noted how the tests of benchmarks in containers come out with a right solution."""
    return home() / "golds"


def repositories_directory() -> Path:
    """Where clones of the repositories that benchmarks work on are kept."""
    return home() / "repositories"


def agents_directory() -> Path:
    """Where command-line agents are installed, a directory for each version."""
    return home() / "agents"


def recipes_directory() -> Path:
    """Where the user's own recipes of agents are."""
    return home() / "recipes"
