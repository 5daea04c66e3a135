"""How worker processes make the parts of a run again; see `engine.shards.Recipe`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container
from typing import Any

from benchwright.engine.shards import Recipe, ShardParts


def recipe(make: Callable[..., ShardParts], *arguments: Any, keys: Container[str | None] = ()) -> Recipe:
    """What another process is to call; `keys` names variables that hold keys besides those usually named so."""
    environment = {
        name: value for name, value in os.environ.items() if name.endswith("_API_KEY") or name in keys
    }
    return Recipe(f"{make.__module__}:{make.__qualname__}", arguments, tuple(sys.path), environment)


def said_by_the_parent(text: str) -> None:
    """Says nothing: the process that journals has said it."""
