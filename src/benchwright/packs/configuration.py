"""The user's configuration of providers, models and verifiers, as packs receive it.

It is read from two kinds of files. One is `~/.benchlocal/config.toml`, the file of the desktop host
(BenchLocal's application), which Benchwright never writes. The others are Benchwright's own TOML files with
the same tables: `[providers.<id>]`, `[[models]]`, `[benchpacks.<id>.verifiers.<id>]`, `[registry]`. If
several files define the same id, the later file wins. Keys are added to `SECRETS` when they are read, and are
never shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from benchwright.endpoint.access import ANONYMOUS_ACCESS, Access, make_headers
from benchwright.endpoint.address import parse_base_url
from benchwright.endpoint.tls import TlsFiles
from benchwright.errors import UserError
from benchwright.headers import check_header_name, check_header_value
from benchwright.packs.provider_keys import ProviderKeys, is_sendable
from benchwright.packs.toml_file import TomlFile, read_toml
from benchwright.packs.types import ProviderConfig, RegisteredModel, VerifierMode
from benchwright.records import Record, Target
from benchwright.suggestions import did_you_mean
from benchwright.user_paths import expand_user_path

OPENAI_COMPATIBLE_KIND = "openai_compatible"

DEFAULT_BASE_URLS = {
    "openrouter": "https://openrouter.ai/api/v1",
    "huggingface": "https://router.huggingface.co/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "llamacpp": "http://127.0.0.1:8080/v1",
    "mlx": "http://127.0.0.1:8082/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "pico": "http://127.0.0.1:7426/v1",
}
"""Kinds of providers other than openai_compatible: a mapping from the kind to its usual address."""

FORMER_TABLE_NAMES = {"bench_packs": "benchpacks", "plugins": "benchpacks"}
"""Mapping from the names of tables in older configuration files to their present names."""


class VerifierSettings(Record, frozen=True):
    """The user's settings for one verifier of a pack. For a setting that is None, the manifest's value is used."""

    mode: VerifierMode | None = None
    auto_start: bool = True
    custom_url: str | None = None
    cloud_url: str | None = None
    docker_image: str | None = None


class PackConfiguration(Record, frozen=True):
    """The whole configuration.

    `verifiers`: {pack id: {verifier id: settings}}. `registry`: a URL, None if not configured.
    `github_archive`: a URL template with {repository} and {tag}, None if not configured. `provider_access`: a
    mapping from provider ids to the access to the provider without its key (headers, TLS files).
    """

    providers: list[ProviderConfig] = []
    models: list[RegisteredModel] = []
    keys: ProviderKeys = ProviderKeys()
    verifiers: dict[str, dict[str, VerifierSettings]] = {}
    registry: str | None = None
    github_archive: str | None = None
    provider_access: dict[str, Access] = {}

    def access_to(self, provider_id: str) -> Access:
        """Return the access to a provider, including the provider's key. It must never be shown."""
        further = self.provider_access.get(provider_id, ANONYMOUS_ACCESS)
        return msgspec.structs.replace(further, api_key=self.keys.get_key(provider_id))


class _Provider(Record, frozen=True):
    kind: str | None = None
    name: str | None = None
    enabled: bool = True
    base_url: str | None = None
    metadata: dict[str, str | float | bool] | None = None
    headers: dict[str, str] = {}
    headers_env: dict[str, str] = {}
    ca_file: str | None = None
    client_cert: str | None = None
    client_key: str | None = None


class _Model(Record, frozen=True):
    provider: str
    model: str
    id: str | None = None
    label: str | None = None
    group: str = "primary"
    enabled: bool = True


def desktop_configuration_path() -> Path:
    """Return the path of the configuration file of the desktop host (BenchLocal)."""
    return expand_user_path("~/.benchlocal/config.toml")


def read_configuration(files: Iterable[Path], environ: Mapping[str, str]) -> PackConfiguration:
    """Read these configuration files and merge them. Files that do not exist are skipped.

    `environ`: the environment, in which variables that hold keys are looked up.

    Raises:
        UserError: If a file is not TOML, a value has the wrong type, an address is invalid, two models have
            the same id, or a model's provider is not defined. The message never contains a key.
    """
    whole = PackConfiguration()
    for path in files:
        content = read_toml(path)
        if content is not None:
            renamed = {FORMER_TABLE_NAMES.get(name, name): value for name, value in content.items()}
            whole = _merged(whole, TomlFile(path, renamed), environ)
    return whole


def build_configuration(
    targets: Sequence[Target], access: Mapping[str, Access], names: Mapping[str, str] = MappingProxyType({})
) -> PackConfiguration:
    """Build the configuration for models that are given by address, as with `--model M --base-url U`.

    `access`, `names`: mappings from the slot (the id of a model in the run) to the access and to the model's
    display name. Each distinct pair of address and access becomes a provider of the kind openai_compatible,
    named `endpoint`, `endpoint-2` and so on.
    """
    providers: dict[tuple[str, Access], ProviderConfig] = {}
    models: dict[str, RegisteredModel] = {}
    resolved = ProviderKeys()
    for target in targets:
        given = access.get(target.slot, ANONYMOUS_ACCESS)
        place, key = (target.base_url, given), given.api_key
        if place not in providers:
            provider_id = f"endpoint-{len(providers) + 1}" if providers else "endpoint"
            providers[place] = ProviderConfig(
                id=provider_id,
                kind=OPENAI_COMPATIBLE_KIND,
                name=parse_base_url(target.base_url).authority,
                enabled=True,
                base_url=target.base_url,
                auth_mode="bearer" if key else "none",
            )
            resolved = resolved.with_key(provider_id, key, None)
        name = names.get(target.slot, target.model)
        own_name = None if name == target.model else name
        model = _registered(_Model(providers[place].id, target.model, own_name, own_name))
        models[model.id] = model
    return PackConfiguration(list(providers.values()), list(models.values()), resolved)


def choose_models(configuration: PackConfiguration, names: Sequence[str]) -> list[RegisteredModel]:
    """Return the models with these names, in the order of the names.

    A name is first looked up among the models' ids, and then among their labels and the providers' names for
    them. Without names, return all enabled models of enabled providers.

    Raises:
        UserError: If no model has the name, if several models have it, or if the model or its provider is not
            enabled.
    """
    if not names:
        providers = {provider.id for provider in configuration.providers if provider.enabled}
        return [model for model in configuration.models if model.enabled and model.provider in providers]
    chosen = {model.id: model for model in (_choose(configuration, name) for name in names)}
    return list(chosen.values())


def _choose(configuration: PackConfiguration, name: str) -> RegisteredModel:
    models = configuration.models
    fitting = [model for model in models if model.id == name] or [
        model for model in models if name in (model.label, model.model)
    ]
    if not fitting:
        hint = did_you_mean(name, [model.id for model in models])
        raise UserError(f"There is no model {name!r} in the configuration.{hint} Or give --base-url with it.")
    if len(fitting) > 1:
        raise UserError(f"Several models are called {name!r}: {', '.join(model.id for model in fitting)}.")
    provider = next(provider for provider in configuration.providers if provider.id == fitting[0].provider)
    if not fitting[0].enabled or not provider.enabled:
        what = "The model" if provider.enabled else f"The provider {provider.id!r} of the model"
        raise UserError(f"{what} {name!r} is not enabled in the configuration.")
    return fitting[0]


def _merged(former: PackConfiguration, file: TomlFile, environ: Mapping[str, str]) -> PackConfiguration:
    """Merge a file into the configuration read so far. The file's values win."""
    providers = {provider.id: provider for provider in former.providers}
    keys, further = former.keys, dict(former.provider_access)
    tables = file.read_table("providers")
    for provider_id in tables:
        place = f"providers.{provider_id}"
        raw = file.read_table(provider_id, tables, "providers.")
        key, variable = file.read_string(raw, "api_key", place), file.read_string(raw, "api_key_env", place)
        keys = keys.with_key(provider_id, key, variable, environ)
        if not is_sendable(keys.get_key(provider_id)):
            raise file.error_at(place, "its key contains characters that are invalid in an HTTP header")
        providers[provider_id] = _provider(file, provider_id, raw, bearer=bool(key or variable))
        further[provider_id] = _further_access(file, raw, place, environ)
    models = {model.id: model for model in former.models}
    seen: set[str] = set()
    for position, raw in enumerate(file.read_tables("models"), 1):
        place = f"models, number {position}"
        model = _registered(file.convert_table(raw, _Model, place))
        if model.id in seen:
            raise file.error_at(place, f"the id {model.id!r} appears twice")
        if model.provider not in providers:
            hint = did_you_mean(model.provider, providers)
            raise file.error_at(place, f"there is no provider {model.provider!r}{'.' if hint else ''}{hint}")
        seen.add(model.id)
        models[model.id] = model
    sources = file.read_table("registry")
    registry = file.read_string(sources, "official_url", "registry")
    github_archive = file.read_string(sources, "github_archive", "registry")
    return PackConfiguration(
        list(providers.values()),
        list(models.values()),
        keys,
        former.verifiers | _verifiers(file),
        registry or former.registry,
        github_archive or former.github_archive,
        further,
    )


def _further_access(file: TomlFile, raw: dict[str, Any], place: str, environ: Mapping[str, str]) -> Access:
    """Return the access to a provider without its key: the headers and the TLS files."""
    read: _Provider = file.convert_table(raw, _Provider, place)
    secret = {}
    for name, variable in read.headers_env.items():
        if not environ.get(variable):
            raise file.error_at(f"{place}.headers_env", f"the variable {variable} of {name} is not set")
        secret[name] = environ[variable]
    for name, value in (*read.headers.items(), *secret.items()):
        try:
            check_header_value(check_header_name(name), value)
        except ValueError as error:
            raise file.error_at(f"{place}.headers", str(error)) from None
    files = TlsFiles(read.ca_file, read.client_cert, read.client_key)
    return Access(None, make_headers(read.headers, secret), files)


def _provider(file: TomlFile, provider_id: str, raw: dict[str, Any], *, bearer: bool) -> ProviderConfig:
    place = f"providers.{provider_id}"
    read: _Provider = file.convert_table(raw, _Provider, place)
    kind = read.kind or (provider_id if provider_id in DEFAULT_BASE_URLS else OPENAI_COMPATIBLE_KIND)
    if kind not in DEFAULT_BASE_URLS and kind != OPENAI_COMPATIBLE_KIND:
        known = ", ".join([*DEFAULT_BASE_URLS, OPENAI_COMPATIBLE_KIND])
        raise file.error_at(f"{place}.kind", f"unknown kind {kind!r} (choose from {known})")
    base_url = read.base_url or DEFAULT_BASE_URLS.get(kind)
    if base_url is None:
        raise file.error_at(f"{place}.base_url", "it is missing")
    try:
        parse_base_url(base_url)
    except UserError as error:
        raise file.error_at(f"{place}.base_url", str(error)) from None
    return ProviderConfig(
        id=provider_id,
        kind=kind,
        name=read.name or provider_id,
        enabled=read.enabled,
        base_url=base_url.strip().rstrip("/"),
        auth_mode="bearer" if bearer else "none",
        metadata=read.metadata,
    )


def _registered(model: _Model) -> RegisteredModel:
    return RegisteredModel(
        id=model.id or f"{model.provider}:{model.model}",
        provider=model.provider,
        model=model.model,
        label=model.label or model.model,
        enabled=model.enabled,
        group=model.group,
    )


def _verifiers(file: TomlFile) -> dict[str, dict[str, VerifierSettings]]:
    found: dict[str, dict[str, VerifierSettings]] = {}
    packs = file.read_table("benchpacks")
    for pack_id in packs:
        place = f"benchpacks.{pack_id}."
        pack = file.read_table(pack_id, packs, "benchpacks.")
        name = "verifiers" if "verifiers" in pack else "sidecars"
        for verifier_id, raw in file.read_table(name, pack, place).items():
            read = file.convert_table(raw, VerifierSettings, f"{place}{name}.{verifier_id}")
            found.setdefault(pack_id, {})[verifier_id] = read
    return found
