"""Looks up the newest versions of agents with npm and pip, in the registries that these are configured for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from benchwright.recipes.recipe import Recipe

REGISTRY_TIMEOUT = 15.0
"""Time limit for a registry's answer, in seconds."""


def newest_versions(recipes: Iterable[Recipe]) -> dict[str, str]:
    """Return the newest versions of these agents: a mapping from the recipe's name to the version.

    Agents whose newest version is unknown are left out.
    """
    asked = [recipe for recipe in recipes if recipe.install is not None]
    with ThreadPoolExecutor(max_workers=4) as threads:
        found = threads.map(newest_version, asked)
    return {recipe.name: version for recipe, version in zip(asked, found, strict=True) if version}


def newest_version(recipe: Recipe) -> str | None:
    """Return the newest version of a recipe's first package.

    Return None if the recipe has no package, or if the version is unknown.
    """
    install = recipe.install
    if install is None:
        return None
    if install.npm:
        name = install.npm[0].rpartition("@")[0]
        return _first_word([shutil.which("npm") or "npm", "view", name, "version", "--loglevel=error"])
    name = install.pip[0].partition("==")[0]
    pip = [sys.executable, "-P", "-m", "pip", "--disable-pip-version-check", "--no-input"]
    said = _said([*pip, "index", "versions", "--timeout", "5", "--retries", "0", name])
    return said.partition("(")[2].partition(")")[0] or None


def _first_word(command: Sequence[str]) -> str | None:
    return next(iter(_said(command).split()), None)


def _said(command: Sequence[str]) -> str:
    """Return the first line of a command's output. Return "" if the command fails or takes too long."""
    environment = {**os.environ, "npm_config_update_notifier": "false", "npm_config_fetch_retries": "0"}
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=REGISTRY_TIMEOUT,
            check=False,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = ended.stdout.strip().splitlines()
    return lines[0] if lines and ended.returncode == 0 else ""
