"""The models under test: their targets and keys, of one `--model`, of several, or of a file of models."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.config import ModelEntry, Settings
from benchwright.endpoint.providers import check_target, find_key, find_target
from benchwright.errors import UserError
from benchwright.records import Target
from benchwright.suggest import did_you_mean
from benchwright.text import Say, plain


class ModelsUnderTest(NamedTuple):
    """Their targets in the order given, and by slot their keys and what they are called."""

    targets: tuple[Target, ...]
    keys: dict[str, str | None]
    names: dict[str, str]


def find_models(
    settings: Settings, body: Mapping[str, Any], say: Say, default_url: str | None = None
) -> ModelsUnderTest:
    """The models of the settings. `body` are the fields of every request, over which a model's own settings go.

    Raises:
        UserError: an address or a key is missing, or two models cannot be told apart.
    """
    found = ModelsUnderTest((), {}, {})
    for number, entry in enumerate(settings.tried):
        slot = slot_of(number)
        base_url = entry.base_url or settings.base_url or default_url
        target = find_target(entry.model, base_url, slot, {**body, **_own(entry)})
        key = find_key(_given_key(entry, settings), target, say)
        check_target(target, key)
        found.keys[slot], found.names[slot] = key, entry.title
        found = found._replace(targets=(*found.targets, target))
    _check_different(found)
    return found


def _check_different(found: ModelsUnderTest) -> None:
    names = list(found.names.values())
    asked = [(target.model, target.base_url, target.settings) for target in found.targets]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise UserError(
                f"Two models are called {plain(name)!r}: give each a `name` of its own in --models FILE."
            )
        if asked[place] in asked[:place]:
            first = names[asked.index(asked[place])]
            raise UserError(
                f"{plain(first)!r} and {plain(name)!r} are the same model at the same address with the same settings: "
                "remove one, or use --n for repeats."
            )


def slot_of(number: int) -> str:
    """The slot of the model with this number, from 0."""
    return "primary" if number == 0 else f"model-{number + 1}"


def short_name(models: Sequence[str]) -> str:
    """What a run is called by its models: the first, and how many more."""
    first, *more = (model.rpartition("/")[2] for model in models)
    return f"{first}+{len(more)}" if more else first


def key_variables(settings: Settings) -> set[str | None]:
    """The variables that hold the keys of models."""
    return {entry.api_key_env for entry in settings.models}


def _own(entry: ModelEntry) -> dict[str, Any]:
    own = {"temperature": entry.temperature, "max_tokens": entry.max_tokens, "seed": entry.seed}
    return {**{name: value for name, value in own.items() if value is not None}, **entry.param}


def _given_key(entry: ModelEntry, settings: Settings) -> str | None:
    """The key that was given for a model; the one of all models goes to no other address than theirs."""
    if entry.api_key_env is not None:
        key = os.environ.get(entry.api_key_env)
        if not key:
            raise UserError(
                f"Model {plain(entry.title)!r}: the variable {entry.api_key_env} (api_key_env) is not set."
            )
        return key
    elsewhere = entry.base_url is not None and entry.base_url != settings.base_url
    return None if elsewhere or settings.api_key is None else settings.api_key.get_secret_value()


def read_models(path: Path) -> tuple[ModelEntry, ...]:
    """The models of a TOML file: a table `[[models]]` for each, see docs/eval.md.

    Raises:
        UserError: the file cannot be read, or an entry is not as it should be; names it.
    """
    return models_in(read_toml(path), path)


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file.

    Raises:
        UserError: it is none, or cannot be read.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path} is not a TOML file: {error}") from None


def models_in(content: Mapping[str, Any], path: Path) -> tuple[ModelEntry, ...]:
    """The models that the content of a file names.

    Raises:
        UserError: it names none, or an entry is not as it should be.
    """
    from pydantic import ValidationError

    entries = content.get("models")
    if not isinstance(entries, list) or not entries:
        raise UserError(f"{path} names no models: write a table [[models]] with `model = ...` for each.")
    found = []
    for number, entry in enumerate(entries, 1):
        try:
            found.append(ModelEntry.model_validate({"model": entry} if isinstance(entry, str) else entry))
        except ValidationError as error:
            raise UserError(f"{path}, model {number}: {_told(error.errors()[0])}") from None
    return tuple(found)


def _told(error: Mapping[str, Any]) -> str:
    place = ".".join(map(str, error["loc"])) or "the entry"
    if error["type"] == "extra_forbidden":
        return f"unknown key {plain(place)!r}.{did_you_mean(place, ModelEntry.model_fields)}"
    return f"{plain(place)}: {error['msg']}."
