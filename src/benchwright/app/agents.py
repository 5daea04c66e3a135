"""The available command-line agents: recipes, and their installations."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from benchwright.recipes.agent_verifications import AgentVerification, read_verifications
from benchwright.recipes.installed_agents import find_installed
from benchwright.recipes.installing import install_agent
from benchwright.recipes.newest_versions import newest_versions
from benchwright.recipes.recipe import Recipe
from benchwright.recipes.recipe_lookup import all_recipes, find_recipe, is_shipped
from benchwright.records import Record
from benchwright.text import Say


class KnownAgent(Record, frozen=True, omit_defaults=False):
    """A recipe with its state on this machine, for display in lists.

    `installed`: the folder of the agent; None if it is not installed. `seen`: what was last verified with the
    agent, and in which version; None for a user's own recipe. `newest`: the newest published version; None if it
    was not requested, or if no registry reported it.
    """

    name: str
    title: str
    version: str
    dialect: str
    licence: str
    source: str
    note: str
    packages: tuple[str, ...]
    containers: bool
    installed: str | None
    seen: AgentVerification | None = None
    newest: str | None = None


def known_agents(*, latest: bool = False) -> list[KnownAgent]:
    """Return all agents, ordered by name. `latest`: also ask the package registries for the newest versions.

    Raises:
        UserError: If a recipe of the user is invalid.
    """
    recipes = all_recipes()
    newest = newest_versions(recipes) if latest else {}
    return [msgspec.structs.replace(_known(recipe), newest=newest.get(recipe.name)) for recipe in recipes]


def install_agents(names: Sequence[str], say: Say) -> list[KnownAgent]:
    """Install the agents of these names that are not installed yet. Return all of the named agents.

    Raises:
        UserError: If there is no such recipe, or its packages cannot be installed.
    """
    recipes = [find_recipe(name) for name in names]
    for recipe in recipes:
        install_agent(recipe, say)
    return [_known(recipe) for recipe in recipes]


def _known(recipe: Recipe) -> KnownAgent:
    install, layer = recipe.install, find_installed(recipe)
    return KnownAgent(
        name=recipe.name,
        title=recipe.title,
        version=recipe.version,
        dialect=recipe.dialect,
        licence=recipe.licence,
        source=recipe.source,
        note=recipe.note,
        packages=() if install is None else (*install.npm, *install.pip),
        containers=install is None or install.containers,
        installed=None if layer is None else str(layer.directory),
        seen=read_verifications().get(recipe.name) if is_shipped(recipe.name) else None,
    )
