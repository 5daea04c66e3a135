"""Installed agents on this machine: one directory per version, created completely or not at all."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import msgspec

from benchwright.errors import UserError
from benchwright.home import agents_directory
from benchwright.recipes.recipe import Install, Recipe
from benchwright.records import Record
from benchwright.runs.keys import fingerprint

INSTALL_COMPLETE_FILE = "installed.json"
"""Name of the file that is written last. A directory without this file is incomplete."""


class InstalledAgent(Record, frozen=True):
    """An installed agent: its directory, and the versions of its packages."""

    directory: Path
    packages: dict[str, str]


def install_directory(recipe: Recipe) -> Path:
    """Return the directory in which a recipe's agent is installed, or would be.

    Other versions, other packages and other Python versions have other directories.
    """
    python = sys.version_info[:2] if recipe.install is not None and recipe.install.pip else ()
    digest = fingerprint(msgspec.to_builtins(recipe.install), python)[:8]
    return agents_directory() / "-".join(filter(None, [recipe.name, recipe.version, digest]))


def find_installed(recipe: Recipe) -> InstalledAgent | None:
    """Return the installed agent of a recipe. Return None if it is not installed."""
    directory = install_directory(recipe)
    try:
        packages = msgspec.json.decode((directory / INSTALL_COMPLETE_FILE).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError):
        return None
    return InstalledAgent(directory, packages)


def host_launch_command(recipe: Recipe) -> list[str]:
    """Return the command (without arguments) of an agent's program on this machine.

    Return [] if the recipe installs nothing.

    Raises:
        UserError: If the agent works in containers only, is not installed, or needs Node.js, which is
            missing. The message states what to do.
    """
    if recipe.loop != "program":
        raise UserError(f"{recipe.name} works in the containers of a benchmark only: `benchwright run`.")
    install = recipe.install
    if install is None:
        return []
    layer = find_installed(recipe)
    if layer is None:
        raise UserError(f"{recipe.title} is not installed: run `benchwright agents install {recipe.name}`.")
    if install.pip:
        return [str(layer.directory / "bin" / "python"), "-m", install.module]
    return [*_node(recipe, install), str(layer.directory / install.program)]


def _node(recipe: Recipe, install: Install) -> list[str]:
    if not install.node:
        return []
    node = shutil.which("node")
    if node is None:
        raise UserError(f"{recipe.title} needs Node.js, but `node` is not on the PATH.")
    return [node]
