"""The models under test: targets, access and settings for one `--model` or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from benchwright.app.access import access_of_model, has_own_address, header_variable_names
from benchwright.app.reasoning_effort import (
    SentReasoningFields,
    find_sent_fields,
    reasoning_settings_for_model,
)
from benchwright.app.recommended_settings import RecommendedSettings, find_recommended_settings
from benchwright.config import EndpointSettings, ModelEntry, SamplingSettings, ThinkingSettings
from benchwright.endpoint.access import Access
from benchwright.endpoint.credentials import read_key
from benchwright.endpoint.default_server import OPENAI_URL, DefaultServer, default_server
from benchwright.endpoint.lite_llm import LITELLM_BASE_URL
from benchwright.endpoint.providers import check_target, find_access, find_target
from benchwright.errors import UserError
from benchwright.records import Target
from benchwright.runs.keys import target_identity
from benchwright.text import Say, make_safe

SAMPLING_OPTIONS = ("temperature", "max_tokens", "seed")
"""Names of the settings that have an option of their own. Such an option overrides a recommended setting."""


class ModelsUnderTest(NamedTuple):
    """The models under test.

    `targets`: the models' targets, in the given order. `access`: the access to each target, by slot.
    `display_names`: the models' display names, by slot. `sent_thinking`: the settings sent for reasoning, by
    slot. `recommended_settings`: the recommended settings that are sent, by slot. A model without such
    settings has no entry in `sent_thinking` or `recommended_settings`.
    """

    targets: tuple[Target, ...]
    access: dict[str, Access]
    display_names: dict[str, str]
    sent_thinking: dict[str, SentReasoningFields]
    recommended_settings: dict[str, RecommendedSettings]

    @property
    def manifest_facts(self) -> dict[str, Any]:
        """Reasoning and recommended settings, for the manifest and `--dry-run`. Empty if none are sent."""
        about: dict[str, Any] = {}
        if self.sent_thinking:
            about["thinking"] = {slot: sent._asdict() for slot, sent in self.sent_thinking.items()}
        if self.recommended_settings:
            about["recommended"] = {
                slot: found._asdict() for slot, found in self.recommended_settings.items()
            }
        return about


def find_models(
    endpoint: EndpointSettings,
    sampling: SamplingSettings,
    thinking: ThinkingSettings,
    body: Mapping[str, Any],
    say: Say,
    default: DefaultServer | None = None,
) -> ModelsUnderTest:
    """Return the models that the settings describe.

    `body`: fields of every request. Recommended settings override `body`. Options of the user override recommended
    settings. A model's own settings override everything. `default`: the server of models without an address. If it is
    None, `find_target` chooses their server. Settings that are sent for reasoning or by recommendation, and servers
    that the user did not choose, are reported by `say`.

    Raises:
        UserError: If an address or a key is missing, two models cannot be distinguished, a model has no
            recommended settings, or a server has no field for the wanted reasoning effort.
    """
    found, told = ModelsUnderTest((), {}, {}, {}, {}), set[str]()
    for number, entry in enumerate(endpoint.models_under_test):
        slot = slot_of_model(number)
        base_url = entry.base_url or endpoint.base_url
        recommended = _recommended(thinking, entry)
        of_authors = {} if recommended is None else recommended.settings
        fields = {**body, **of_authors, **_given(sampling, body), **_own(entry)}
        given = access_of_model(endpoint, entry, _given_key(entry, endpoint))
        target = find_target(entry.model, base_url or (default and default.base_url), slot, fields, given)
        if not base_url and (line := default_line(entry.model, target, default)) not in told:
            told.add(line)
            say(line)
        access = find_access(given, target, say)
        check_target(target, access)
        sent = find_sent_fields(thinking, entry, target, access)
        if sent is not None:
            target = replace(target, settings=_with_thinking(target, sent))
            found.sent_thinking[slot] = sent
            say(f"{make_safe(entry.title)}: {sent.description}.")
        if recommended is not None:
            found.recommended_settings[slot] = applied = recommended.without_overridden_settings(
                target.settings
            )
            say(f"{make_safe(entry.title)}: as recommended for {applied.description}.")
        found.access[slot], found.display_names[slot] = access, entry.title
        found = found._replace(targets=(*found.targets, target))
    _check_different(found)
    return found


def says_no_address(endpoint: EndpointSettings) -> bool:
    """Return True if the settings leave the server of at least one model to the command."""
    return not endpoint.base_url and any(not entry.base_url for entry in endpoint.models_under_test)


def default_line(model: str, target: Target, default: DefaultServer | None) -> str:
    """Return the line that says which server was chosen for a model without an address, and why."""
    if target.base_url == LITELLM_BASE_URL:
        provider = make_safe(model.partition("/")[0])
        return f"No --base-url: {provider}, the provider in the model's name, is asked through LiteLLM."
    return (default or default_server(OPENAI_URL)).line


def _with_thinking(target: Target, sent: SentReasoningFields) -> dict[str, Any]:
    if both := sent.fields.keys() & target.settings.keys():
        raise UserError(
            f"The field {min(both)!r} is set by --param and by options for thinking: remove one of them."
        )
    return {**target.settings, **sent.fields}


def _check_different(found: ModelsUnderTest) -> None:
    names = list(found.display_names.values())
    asked = [target_identity(target) for target in found.targets]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise UserError(
                f"Two models are called {make_safe(name)!r}: give each a `name` of its own in --models FILE."
            )
        if asked[place] in asked[:place]:
            first = names[asked.index(asked[place])]
            raise UserError(
                f"{make_safe(first)!r} and {make_safe(name)!r} are the same model at the same address with the "
                "same settings: "
                "remove one, or use --n for repeats."
            )


def slot_of_model(number: int) -> str:
    """Return the slot (the key within a run) of the model with this number, counted from 0."""
    return "primary" if number == 0 else f"model-{number + 1}"


def short_name_of_models(models: Sequence[str]) -> str:
    """Return a short name for several models: the name of the first model, and the number of further models."""
    first, *more = (model.rpartition("/")[2] for model in models)
    return f"{first}+{len(more)}" if more else first


def key_variable_names(endpoint: EndpointSettings, *others: Mapping[str, str]) -> set[str | None]:
    """Return the names of the environment variables that hold API keys and headers, for the models and for other roles.

    `others`: for each other role, such as a judge, a mapping from header name to variable name.
    """
    return {entry.api_key_env for entry in endpoint.models} | header_variable_names(endpoint, *others)


def _recommended(thinking: ThinkingSettings, entry: ModelEntry) -> RecommendedSettings | None:
    """Return the settings that the model's authors recommend. None if the user did not ask for them."""
    if not thinking.sends_recommended_settings:
        return None
    thinks = not reasoning_settings_for_model(thinking, entry).is_off
    return find_recommended_settings(entry.model, thinks=thinks, given=thinking.recommended_file)


def _given(sampling: SamplingSettings, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body fields that the user set by options. They override recommended settings."""
    named = {*(name for name in SAMPLING_OPTIONS if getattr(sampling, name) is not None), *sampling.param}
    return {name: body[name] for name in named if name in body}


def _own(entry: ModelEntry) -> dict[str, Any]:
    own = {"temperature": entry.temperature, "max_tokens": entry.max_tokens, "seed": entry.seed}
    return {**{name: value for name, value in own.items() if value is not None}, **entry.param}


def _given_key(entry: ModelEntry, endpoint: EndpointSettings) -> str | None:
    """Return the API key that the user gave for a model. None if the user gave none.

    The shared key is used only for models at the shared address.
    """
    if entry.api_key_env is not None:
        return read_key(entry.api_key_env, f"Model {make_safe(entry.title)!r}: api_key_env")
    if has_own_address(endpoint, entry) or endpoint.api_key is None:
        return None
    return endpoint.api_key.get_secret_value()
