"""The start of an agent for one trial: command, environment and files, with placeholders replaced."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from benchwright.endpoint.relay import relay_environment
from benchwright.recipes.recipe import AGENT_PLACEHOLDER, PLACEHOLDERS, Recipe
from benchwright.records import Record

_PLACEHOLDER = re.compile("|".join(rf"\{{{name}\}}" for name in sorted(PLACEHOLDERS)))

_FOLDERS = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
}


class ModelAccess(Record, frozen=True):
    """An agent's access to the model: the relay's address with `/v1`, the trial's token, and the model's name."""

    base_url: str
    token: str
    model: str


class LaunchSpec(Record, frozen=True):
    """The start of an agent. `files`: a mapping from an absolute path to the text to write there before the start."""

    command: list[str]
    environment: dict[str, str]
    files: dict[str, str]


def build_launch_spec(
    recipe: Recipe, launch: Sequence[str], prompt: str, way: ModelAccess, home: str
) -> LaunchSpec:
    """Return the start of an agent that is given a task (`prompt`).

    `launch`: the words with which the command begins. `way`: the agent's access to the model. `home`: the
    agent's home folder.
    """
    values = {
        "prompt": prompt,
        "model": way.model,
        "base_url": way.base_url,
        "root_url": way.base_url.removesuffix("/v1"),
        "token": way.token,
        "home": home,
    }
    words = recipe.command[1:] if recipe.command[0] == AGENT_PLACEHOLDER else recipe.command
    own = {name: _filled(text, values) for name, text in recipe.environment.items()}
    return LaunchSpec(
        [*launch, *(_filled(word, values) for word in words)],
        {
            "HOME": home,
            **{name: f"{home}/{folder}" for name, folder in _FOLDERS.items()},
            **relay_environment(way.base_url, way.token, way.model),
            **own,
        },
        {f"{home}/{path}": _filled(text, values) for path, text in recipe.files.items()},
    )


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Replace the placeholders in a text. Placeholders within the inserted values are not replaced."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[0][1:-1], found[0]), text)
