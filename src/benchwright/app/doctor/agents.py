"""Findings on command-line agents: which are installed, and what the missing ones need."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from benchwright.app.doctor.findings import Finding
from benchwright.recipes.installed_agents import find_installed
from benchwright.recipes.recipe import Recipe
from benchwright.recipes.recipe_lookup import all_recipes
from benchwright.recipes.tmux import INSTALL_ADVICE, TMUX_PROGRAM, tmux_version


def check_agents() -> Iterator[Finding]:
    """Yield a finding for each installed command-line agent, and one for all missing ones.

    Raises:
        UserError: If a recipe of the user is invalid.
    """
    recipes = [recipe for recipe in all_recipes() if recipe.install is not None]
    installed = [recipe for recipe in recipes if find_installed(recipe) is not None]
    missing = [recipe for recipe in recipes if recipe not in installed]
    for recipe in installed:
        yield from _finding(recipe)
    if missing:
        needed_for = "these command-line agents (--agent)"
        npm = (
            ""
            if shutil.which("npm")
            else "; those of npm need Node.js (Debian and Ubuntu: `apt-get install npm`)"
        )
        names = ", ".join(recipe.name for recipe in missing)
        advice = f"benchwright agents install NAME{npm}"
        yield Finding("agents", f"not installed: {names}", "missing", needed_for, advice)
    if any(recipe.loop == "terminus" for recipe in all_recipes()):
        yield _tmux()


def _tmux() -> Finding:
    found, needed_for = tmux_version(), "the agent terminus (--agent)"
    if found is None:
        return Finding(
            TMUX_PROGRAM,
            "not on the PATH",
            "missing",
            needed_for,
            f"{INSTALL_ADVICE[0].upper()}{INSTALL_ADVICE[1:]}.",
        )
    return Finding(TMUX_PROGRAM, found, needed_for=needed_for)


def _finding(recipe: Recipe) -> Iterator[Finding]:
    subject = f"agent {recipe.name}"
    if recipe.install is not None and recipe.install.node and shutil.which("node") is None:
        advice = "Install Node.js 20 or newer (Debian and Ubuntu: `apt-get install nodejs`)."
        yield Finding(subject, "`node` is not on the PATH", "problem", recipe.title, advice)
    else:
        yield Finding(subject, f"{recipe.title} {recipe.version}")
