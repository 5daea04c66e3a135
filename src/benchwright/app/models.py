"""The models under test: their targets, access and settings, of one `--model` or of several."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from benchwright.app.access import access_of_model, header_variables, is_elsewhere
from benchwright.app.recommended import Recommended, find_recommended
from benchwright.app.thinking import SentThinking, sent_thinking, wanted_thinking
from benchwright.config import ModelEntry, Settings, ThinkingSettings
from benchwright.endpoint.access import Access
from benchwright.endpoint.providers import check_target, find_access, find_target
from benchwright.errors import UserError
from benchwright.records import Target
from benchwright.runs.keys import identity_of
from benchwright.text import Say, plain

GIVEN = ("temperature", "max_tokens", "seed")
"""Settings with options of their own, which go over what is recommended."""


class ModelsUnderTest(NamedTuple):
    """Their targets in the order given, and by slot the access to them and what they are called.

    `thinking` and `recommended` are there for those to which such settings are sent.
    """

    targets: tuple[Target, ...]
    access: dict[str, Access]
    names: dict[str, str]
    thinking: dict[str, SentThinking]
    recommended: dict[str, Recommended]

    @property
    def about(self) -> dict[str, Any]:
        """What a run keeps of such settings, and `--dry-run` shows; empty without any."""
        about: dict[str, Any] = {}
        if self.thinking:
            about["thinking"] = {slot: sent._asdict() for slot, sent in self.thinking.items()}
        if self.recommended:
            about["recommended"] = {slot: found._asdict() for slot, found in self.recommended.items()}
        return about


def find_models(
    settings: Settings, body: Mapping[str, Any], say: Say, default_url: str | None = None
) -> ModelsUnderTest:
    """The models of the settings. `body` are the fields of every request, over which a model's own settings go.

    What is recommended for a model goes over `body`, but not over what the user gave. What is sent because of it, and
    for thinking, is said.

    Raises:
        UserError: an address or a key is missing, two models cannot be told apart, nothing is recommended for one, or a
            server has no field for what is wanted.
    """
    found = ModelsUnderTest((), {}, {}, {}, {})
    for number, entry in enumerate(settings.tried):
        slot = slot_of(number)
        base_url = entry.base_url or settings.base_url or default_url
        recommended = _recommended(settings, entry)
        of_authors = {} if recommended is None else recommended.settings
        fields = {**body, **of_authors, **_given(settings, body), **_own(entry)}
        given = access_of_model(settings, entry, _given_key(entry, settings))
        target = find_target(entry.model, base_url, slot, fields, given)
        access = find_access(given, target, say)
        check_target(target, access)
        sent = sent_thinking(settings, entry, target, access)
        if sent is not None:
            target = replace(target, settings=_with_thinking(target, sent))
            found.thinking[slot] = sent
            say(f"{plain(entry.title)}: {sent.words}.")
        if recommended is not None:
            found.recommended[slot] = applied = recommended.as_applied(target.settings)
            say(f"{plain(entry.title)}: as recommended for {applied.words}.")
        found.access[slot], found.names[slot] = access, entry.title
        found = found._replace(targets=(*found.targets, target))
    _check_different(found)
    return found


def _with_thinking(target: Target, sent: SentThinking) -> dict[str, Any]:
    if both := sent.fields.keys() & target.settings.keys():
        raise UserError(
            f"The field {min(both)!r} is set by --param and by options for thinking: remove one of them."
        )
    return {**target.settings, **sent.fields}


def _check_different(found: ModelsUnderTest) -> None:
    names = list(found.names.values())
    asked = [identity_of(target) for target in found.targets]
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
    """The variables that hold keys of models, and headers."""
    return {entry.api_key_env for entry in settings.models} | header_variables(settings)


def _recommended(settings: Settings, entry: ModelEntry) -> Recommended | None:
    """What the model's authors recommend; None where the user did not ask for it."""
    if not isinstance(settings, ThinkingSettings) or not (settings.recommended or settings.recommended_file):
        return None
    thinks = not wanted_thinking(settings, entry).is_off
    return find_recommended(entry.model, thinks=thinks, given=settings.recommended_file)


def _given(settings: Settings, body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the body that the user gave by options."""
    named = {*(name for name in GIVEN if getattr(settings, name) is not None), *settings.param}
    return {name: body[name] for name in named if name in body}


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
    if is_elsewhere(settings, entry) or settings.api_key is None:
        return None
    return settings.api_key.get_secret_value()
