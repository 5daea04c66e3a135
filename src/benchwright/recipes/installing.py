"""Installs agents from pinned packages of npm and PyPI.

npm's install scripts are not run. PyPI packages are installed in an environment of their own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec
from filelock import FileLock

from benchwright.errors import UserError
from benchwright.python_commands import interpreter_path
from benchwright.recipes.installed_agents import (
    INSTALL_COMPLETE_FILE,
    InstalledAgent,
    find_installed,
    install_directory,
)
from benchwright.recipes.recipe import Install, Recipe
from benchwright.text import Say

INSTALL_TIMEOUT = 1800.0
"""Time limit of an installation, in seconds."""

_NPM = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
_PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input")


def install_agent(recipe: Recipe, say: Say) -> InstalledAgent:
    """Install a recipe's agent, unless it is installed already. Return the installed agent.

    Raises:
        UserError: If the recipe installs nothing, if npm is missing, or if a package cannot be installed. The
            message states what to do.
    """
    if recipe.install is None:
        raise UserError(
            f"The recipe {recipe.name} installs nothing: its program is one that is there already."
        )
    directory = install_directory(recipe)
    directory.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(directory.with_name(f"{directory.name}.lock")):
        found = find_installed(recipe)
        if found is not None:
            return found
        if directory.exists():
            shutil.rmtree(directory)
        directory.mkdir()
        say(f"Installing {recipe.label}: {', '.join(recipe.install.npm or recipe.install.pip)}")
        packages = _installed(recipe.install, directory)
        (directory / INSTALL_COMPLETE_FILE).write_bytes(msgspec.json.encode(packages))
    return InstalledAgent(directory, packages)


def _installed(install: Install, directory: Path) -> dict[str, str]:
    """Install the packages. Return the versions of all packages that were installed, dependencies included."""
    if install.npm:
        npm = shutil.which("npm")
        if npm is None:
            raise UserError(
                "npm is not on the PATH: install Node.js (Debian and Ubuntu: `apt-get install npm`)."
            )
        _run([npm, "install", *_NPM, "--prefix", str(directory), *install.npm], directory)
        if not (directory / install.program).is_file():
            raise UserError(
                f"npm installed {install.npm[0]}, but without {install.program}; is it made for this machine?"
            )
        return _npm_packages(directory)
    _run([interpreter_path(), "-I", "-m", "venv", str(directory)], directory)
    pip = [str(directory / "bin" / "python"), *_PIP]
    _run([*pip, "install", "--quiet", "--no-compile", *install.pip], directory)
    listed = json.loads(_run([*pip, "list", "--format=json"], directory))
    return {entry["name"]: entry["version"] for entry in listed}


def _npm_packages(directory: Path) -> dict[str, str]:
    lock = json.loads((directory / "node_modules" / ".package-lock.json").read_text(encoding="utf-8"))
    return {
        path.removeprefix("node_modules/"): str(package.get("version", ""))
        for path, package in lock["packages"].items()
        if "/node_modules/" not in path.removeprefix("node_modules/")
    }


def _run(command: Sequence[str], folder: Path) -> str:
    try:
        ended = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=INSTALL_TIMEOUT,
            check=False,
            env={**os.environ, "npm_config_update_notifier": "false"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{Path(command[0]).name} could not install: {error}") from None
    if ended.returncode:
        said = (ended.stderr or ended.stdout).strip().splitlines()
        why = next((line for line in said if "ERR" in line), said[-1] if said else "no reason given")
        raise UserError(f"{Path(command[0]).name} could not install: {why.strip()}")
    return ended.stdout
