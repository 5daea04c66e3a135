"""All recipes: those shipped with Benchwright, and the user's own. The user's recipes take precedence."""

from __future__ import annotations

from pathlib import Path

from benchwright.errors import UserError
from benchwright.home import recipes_directory
from benchwright.recipes.recipe import Recipe, read_recipe
from benchwright.suggestions import did_you_mean

SHIPPED_RECIPES = Path(__file__).parent / "shipped"


def all_recipes() -> list[Recipe]:
    """Return all recipes, sorted by name.

    Raises:
        UserError: If a recipe is invalid.
    """
    return [read_recipe(path) for _, path in sorted(_files().items())]


def find_recipe(name: str) -> Recipe:
    """Return the recipe with this name, or the recipe in this file (`./mine.toml`).

    Raises:
        UserError: If the recipe does not exist or cannot be read.
    """
    if name.endswith(".toml"):
        return read_recipe(Path(name))
    files = _files()
    if name not in files:
        hint = did_you_mean(name, files)
        raise UserError(f"There is no agent called {name!r}.{hint} `benchwright agents` lists them.")
    return read_recipe(files[name])


def recipe_names() -> list[str]:
    """Return the names of all recipes."""
    return sorted(_files())


def is_shipped(name: str) -> bool:
    """Return True if the recipe with this name is shipped with Benchwright."""
    return name in _files() and _files()[name].parent == SHIPPED_RECIPES


def _files() -> dict[str, Path]:
    folders = (SHIPPED_RECIPES, recipes_directory())
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}
