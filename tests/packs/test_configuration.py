"""Providers, models and verifiers from configuration files, or from one model at an address; keys stay hidden."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from benchwright.endpoint.access import Access
from benchwright.errors import UserError
from benchwright.packs.configuration import (
    PackConfiguration,
    VerifierSettings,
    build_configuration,
    choose_models,
    read_configuration,
)
from benchwright.packs.types import SecretResolution
from benchwright.records import Target
from benchwright.secrets import SECRET_PLACEHOLDER, SECRETS

KEY = "sk-configured-0123456789"
OTHER_KEY = "sk-environment-9876543210"

DESKTOP = f"""
schema_version = 1
default_benchpack = "bugfind-15"
run_storage_dir = "~/.benchlocal/runs"

[registry]
official_url = "https://host.example/registry.json"

[ui]
theme = "dark"

[providers.openrouter]
api_key = "{KEY}"

[providers.box]
kind = "llamacpp"
name = "The box"
base_url = "http://10.0.0.5:8080/v1/"
api_key_env = "BOX_KEY"
metadata = {{ gpu = "two", slots = 4 }}

[providers.off]
enabled = false
base_url = "http://127.0.0.1:9/v1"

[[models]]
id = "openrouter:maker/large"
provider = "openrouter"
model = "maker/large"
label = "Large"

[[models]]
provider = "box"
model = "small"
group = "local"

[[models]]
provider = "off"
model = "hidden"

[benchpacks.bugfind-15]
source = "registry"

[benchpacks.bugfind-15.verifiers.verifier]
mode = "custom_url"
auto_start = false
custom_url = "http://127.0.0.1:4010"
"""


def write(path: Path, content: str) -> Path:
    path.write_text(content)
    return path


def read(tmp_path: Path, *contents: str, environ: dict[str, str] | None = None) -> PackConfiguration:
    files = [write(tmp_path / f"config-{number}.toml", content) for number, content in enumerate(contents)]
    return read_configuration(files, environ or {})


def test_the_desktop_hosts_file_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, DESKTOP, environ={"BOX_KEY": OTHER_KEY})
    openrouter, box, off = found.providers
    assert (openrouter.kind, openrouter.base_url, openrouter.auth_mode) == (
        "openrouter", "https://openrouter.ai/api/v1", "bearer",
    )  # fmt: skip
    assert (box.kind, box.name, box.base_url) == ("llamacpp", "The box", "http://10.0.0.5:8080/v1")
    assert box.metadata == {"gpu": "two", "slots": 4}
    assert (off.kind, off.name, off.enabled, off.auth_mode) == ("openai_compatible", "off", False, "none")
    large, small, _ = found.models
    assert (large.id, large.label, large.group) == ("openrouter:maker/large", "Large", "primary")
    assert (small.id, small.label, small.group, small.enabled) == ("box:small", "small", "local", True)
    assert found.registry == "https://host.example/registry.json"
    assert found.verifiers == {
        "bugfind-15": {
            "verifier": VerifierSettings("custom_url", auto_start=False, custom_url="http://127.0.0.1:4010")
        }
    }


def test_keys_come_from_the_file_or_the_environment_and_the_file_goes_first(tmp_path: Path) -> None:
    content = f"""
    [providers.a]
    base_url = "http://a.example/v1"
    api_key = "{KEY}"
    api_key_env = "A_KEY"
    [providers.b]
    base_url = "http://b.example/v1"
    api_key_env = "B_KEY"
    [providers.c]
    base_url = "http://c.example/v1"
    api_key_env = "C_KEY"
    [providers.d]
    base_url = "http://d.example/v1"
    """
    keys = read(tmp_path, content, environ={"A_KEY": OTHER_KEY, "B_KEY": OTHER_KEY}).keys
    assert keys.secret_resolutions() == [
        SecretResolution("a", "A_KEY", "config", KEY),
        SecretResolution("b", "B_KEY", "env", OTHER_KEY),
        SecretResolution("c", "C_KEY", "none", None),
        SecretResolution("d", "api_key", "none", None),
    ]
    assert (keys.get_key("a"), keys.get_key("d"), keys.get_key("unknown")) == (KEY, None, None)


def test_packs_can_be_given_a_token_in_the_place_of_every_key(tmp_path: Path) -> None:
    resolutions = read(tmp_path, DESKTOP, environ={"BOX_KEY": OTHER_KEY}).keys.secret_resolutions("token")
    assert {resolution.value for resolution in resolutions} == {"token"}


def test_keys_are_shown_nowhere(tmp_path: Path) -> None:
    found = read(tmp_path, DESKTOP, environ={"BOX_KEY": OTHER_KEY})
    shown = repr(found) + str(found) + repr(found.keys)
    assert KEY not in shown
    assert OTHER_KEY not in shown
    assert SECRETS.redact(f"{KEY} {OTHER_KEY}") == f"{SECRET_PLACEHOLDER} {SECRET_PLACEHOLDER}"


def test_a_later_file_wins_id_by_id(tmp_path: Path) -> None:
    ours = """
    [providers.box]
    base_url = "http://127.0.0.1:1/v1"
    [[models]]
    id = "box:small"
    provider = "box"
    model = "smaller"
    [[models]]
    provider = "openrouter"
    model = "maker/other"
    """
    found = read(tmp_path, DESKTOP, ours)
    assert [provider.id for provider in found.providers] == ["openrouter", "box", "off"]
    assert found.providers[1].base_url == "http://127.0.0.1:1/v1"
    assert found.keys.get_key("box") is None
    by_id = {model.id: model.model for model in found.models}
    assert by_id["box:small"] == "smaller"
    assert by_id["openrouter:maker/other"] == "maker/other"


def test_a_file_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    assert read_configuration([tmp_path / "config.toml"], {}).providers == []


def test_the_old_names_of_tables_are_read(tmp_path: Path) -> None:
    for table in ("benchpacks", "bench_packs", "plugins"):
        found = read(
            tmp_path, f'[{table}.pack.sidecars.v]\nmode = "cloud"\ncloud_url = "https://host.example"'
        )
        assert found.verifiers == {"pack": {"v": VerifierSettings("cloud", cloud_url="https://host.example")}}


BOX = '[providers.box]\nbase_url = "http://127.0.0.1:1/v1"\n'

WRONG = {
    "no TOML": ("[providers", "is not a TOML file"),
    "an address that is none": (
        '[providers.x]\nbase_url = "host:8080"',
        "providers.x.base_url: The base URL 'host:8080'",
    ),
    "an invalid address": ("[providers.x]\n", "providers.x.base_url: it is missing"),
    "an unknown kind": ('[providers.x]\nkind = "cray"', "providers.x.kind: unknown kind 'cray'"),
    "a provider as text": ('providers = "x"', "providers: expected a table"),
    "a provider that is not a table": ('[providers]\nx = 1', "providers.x: expected a table"),
    "a key as number": ("[providers.x]\napi_key = 5", "providers.x.api_key: expected a string"),
    "a key over two lines": (
        BOX + 'api_key = "sk-first-line\\nsecond-line"',
        "providers.box: its key contains characters",
    ),
    "a password in an address": (
        '[providers.x]\nbase_url = "http://me:hunter22@host/v1"',
        "providers.x.base_url: The base URL holds a user name or password",
    ),
    "a model of no provider": (
        BOX + '[[models]]\nprovider = "bax"\nmodel = "m"',
        "models, number 1: there is no provider 'bax'. Did you mean 'box'?",
    ),
    "a model without a name": (BOX + '[[models]]\nprovider = "box"', "models, number 1: Object missing required"),
    "a model twice": (
        BOX + '[[models]]\nprovider = "box"\nmodel = "m"\n' * 2,
        "models, number 2: the id 'box:m' appears twice",
    ),
    "models as a table": ('[models]\nx = 1', "models: expected a list, [[models]]"),
    "an unknown mode": ('[benchpacks.p.verifiers.v]\nmode = "vm"', "benchpacks.p.verifiers.v: Invalid enum value"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_mistake_is_told_with_file_and_place_and_without_keys(tmp_path: Path, what: str) -> None:
    content, message = WRONG[what]
    with pytest.raises(UserError) as caught:
        read(tmp_path, content)
    assert str(caught.value).startswith(str(tmp_path / "config-0.toml"))
    assert message in str(caught.value)
    assert "sk-" not in str(caught.value)
    assert "hunter22" not in str(caught.value)


def test_a_model_at_an_address_needs_no_configuration() -> None:
    target = Target("primary", "maker/model", "http://localhost:8000/v1")
    found = build_configuration([target], {"primary": Access(KEY)})
    [provider], [model] = found.providers, found.models
    assert msgspec.to_builtins(provider) == {
        "id": "endpoint", "kind": "openai_compatible", "name": "localhost:8000", "enabled": True,
        "baseUrl": "http://localhost:8000/v1", "authMode": "bearer",
    }  # fmt: skip
    assert (model.id, model.provider, model.model, model.label) == (
        "endpoint:maker/model", "endpoint", "maker/model", "maker/model",
    )  # fmt: skip
    assert found.keys.get_key("endpoint") == KEY
    assert choose_models(found, []) == [model]


def test_models_at_one_address_share_a_provider_and_the_same_model_at_two_is_two() -> None:
    here, there = "http://localhost:8000/v1", "http://localhost:9000/v1"
    targets = [Target("primary", "m", here), Target("baseline", "n", here), Target("other", "m", there)]
    found = build_configuration(targets, {})
    assert [model.id for model in found.models] == ["endpoint:m", "endpoint:n", "endpoint-2:m"]
    assert [(provider.base_url, provider.auth_mode) for provider in found.providers] == [
        (here, "none"), (there, "none"),
    ]  # fmt: skip


def test_models_are_chosen_by_id_label_or_name_in_the_order_given(tmp_path: Path) -> None:
    found = read(tmp_path, DESKTOP)
    chosen = choose_models(found, ["small", "Large", "box:small"])
    assert [model.id for model in chosen] == ["box:small", "openrouter:maker/large"]
    assert [model.id for model in choose_models(found, ["maker/large"])] == ["openrouter:maker/large"]


def test_a_choice_that_cannot_be_met_says_why(tmp_path: Path) -> None:
    found = read(
        tmp_path, DESKTOP, BOX.replace("box", "second") + '[[models]]\nprovider = "second"\nmodel = "small"'
    )
    for name, message in {
        "box:smal": "Did you mean 'box:small'",
        "small": "Several models are called 'small': box:small, second:small",
        "hidden": "The provider 'off' of the model 'hidden' is not enabled",
    }.items():
        with pytest.raises(UserError, match=message):
            choose_models(found, [name])
