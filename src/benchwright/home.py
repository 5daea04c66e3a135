"""Directories and files of Benchwright on this machine. The only module that reads BENCHWRIGHT_HOME."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from benchwright.user_paths import expand_user_path


def home_from_environment(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return $BENCHWRIGHT_HOME as an absolute path. None if it is unset or empty."""
    chosen = environ.get("BENCHWRIGHT_HOME")
    return expand_user_path(chosen).resolve() if chosen else None


def home_directory() -> Path:
    """Return $BENCHWRIGHT_HOME. If that is not set, return `benchwright` in the user's data directory."""
    chosen = home_from_environment()
    if chosen is not None:
        return chosen
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.environ.get("HOME", ""), ".local/share")
    if sys.platform == "linux" and data.startswith("/"):
        return Path(data, "benchwright")  # the same result as platformdirs, whose import takes 5 ms
    import platformdirs

    return Path(platformdirs.user_data_dir("benchwright", appauthor=False))


def runs_directory() -> Path:
    """Return the directory of runs. It has one subdirectory for each run."""
    return home_directory() / "runs"


def given_rows_directory() -> Path:
    """Return the directory for datasets that were given as rows in memory instead of a file."""
    return home_directory() / "rows"


def packs_directory() -> Path:
    """Return the directory of installed packs."""
    return home_directory() / "packs"


def web_sessions_directory() -> Path:
    """Return the directory for data that the pages of web packs save. It has one subdirectory for each pack."""
    return home_directory() / "web-sessions"


def packs_file() -> Path:
    """Return the path of Benchwright's file of providers, models, verifiers and the pack registry."""
    return home_directory() / "packs.toml"


def recommended_file() -> Path:
    """Return the path of the user's own file of recommended settings for model families."""
    return home_directory() / "recommended.toml"


def suites_directory() -> Path:
    """Return the directory of the suites that the user has written."""
    return home_directory() / "suites"


def packs_cache_directory() -> Path:
    """Return the directory where packs may write outside a run."""
    return home_directory() / "cache" / "packs"


def pack_libraries_directory() -> Path:
    """Return the directory of the libraries that the desktop host supplies to every pack. Its layout is that of npm."""
    return packs_cache_directory() / "libraries"


def images_directory() -> Path:
    """Return the directory of records of container images that Benchwright pulled or built."""
    return home_directory() / "images"


def gold_results_directory() -> Path:
    """Return the directory of results of container benchmarks' tests on their gold (known-right) solutions."""
    return home_directory() / "golds"


def repositories_directory() -> Path:
    """Return the directory of cloned repositories that benchmarks work on."""
    return home_directory() / "repositories"


def agents_directory() -> Path:
    """Return the directory of installed command-line agents. It has one subdirectory for each version of an agent."""
    return home_directory() / "agents"


def recipes_directory() -> Path:
    """Return the directory of the agent recipes that the user has written."""
    return home_directory() / "recipes"
