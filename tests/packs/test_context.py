"""The host context: everything a pack is told, with the relay in the place of providers and of keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchwright.packs.configuration import PackConfiguration
from benchwright.packs.context import PackDirectories, RelayAccess, host_context
from benchwright.packs.manifest import PackManifest
from benchwright.packs.provider_keys import ProviderKeys
from benchwright.packs.types import HostContext, ProviderConfig, RegisteredModel, to_json

KEY = "sk-test-key-of-the-context-tests"
OPEN = ProviderConfig("open", "openai_compatible", "Open", True, "http://here/v1", "none")
CLOSED = ProviderConfig("closed", "openrouter", "Closed", True, "https://there/v1", "bearer")
MODELS = [
    RegisteredModel("open:a", "open", "a", "A", True, "primary"),
    RegisteredModel("closed:b", "closed", "vendor/b", "B", True, "primary"),
    RegisteredModel("closed:c", "closed", "c", "C", False, "primary"),
]


@pytest.fixture
def configuration() -> PackConfiguration:
    keys = (
        ProviderKeys().with_key("open", None, None).with_key("closed", None, "THEIR_KEY", {"THEIR_KEY": KEY})
    )
    return PackConfiguration([OPEN, CLOSED], MODELS, keys)


def made(configuration: PackConfiguration, tmp_path: Path, relay: RelayAccess | None) -> HostContext:
    directories = PackDirectories(tmp_path / "data", tmp_path / "cache", tmp_path / "run")
    directories.create()
    manifest = PackManifest("pack", "Pack", "1.2.0", "./index.js")
    return host_context(manifest, tmp_path / "pack", directories, configuration, MODELS[:2], [], relay)


def test_with_the_relay_no_key_and_no_address_of_a_provider_is_told(
    configuration: PackConfiguration, tmp_path: Path
) -> None:
    relay = RelayAccess("http://127.0.0.1:5/v1", "token")
    context = to_json(made(configuration, tmp_path, relay))
    assert {provider["baseUrl"] for provider in context["providers"]} == {"http://127.0.0.1:5/v1"}
    assert {provider["authMode"] for provider in context["providers"]} == {"bearer"}
    assert {secret["value"] for secret in context["secrets"]} == {"token"}
    assert [secret["keyName"] for secret in context["secrets"]] == ["api_key", "THEIR_KEY"]
    assert KEY not in json.dumps(context)
    assert "there" not in json.dumps(context["providers"])


def test_directly_the_pack_gets_what_is_configured(configuration: PackConfiguration, tmp_path: Path) -> None:
    context = to_json(made(configuration, tmp_path, None))
    assert [provider["baseUrl"] for provider in context["providers"]] == [
        "http://here/v1",
        "https://there/v1",
    ]
    assert [secret.get("value") for secret in context["secrets"]] == [None, KEY]
    endpoint = context["inferenceEndpoints"][1]
    assert (endpoint["baseUrl"], endpoint["apiKey"], endpoint["exposedModel"]) == (
        "https://there/v1/",
        KEY,
        "vendor/b",
    )


def test_models_are_the_enabled_ones_and_endpoints_those_of_the_run(
    configuration: PackConfiguration, tmp_path: Path
) -> None:
    relay = RelayAccess("http://127.0.0.1:5/v1", "token")
    context = to_json(made(configuration, tmp_path, relay))
    assert [model["id"] for model in context["models"]] == ["open:a", "closed:b"]
    first = context["inferenceEndpoints"][0]
    assert first == {
        "transport": "openai_compatible", "modelId": "open:a", "providerId": "open", "status": "running",
        "baseUrl": "http://127.0.0.1:5/v1/", "authMode": "bearer", "apiKey": "token", "exposedModel": "open:a",
    }  # fmt: skip


def test_containers_are_told_an_address_of_their_own_only_where_there_are_any(
    configuration: PackConfiguration, tmp_path: Path
) -> None:
    docker = RelayAccess("http://127.0.0.1:5/v1", "token", "http://host.docker.internal:5/v1")
    (first, _) = to_json(made(configuration, tmp_path, docker))["inferenceEndpoints"]
    assert first["dockerBaseUrl"] == "http://host.docker.internal:5/v1/"


def test_the_packs_directories_are_there(configuration: PackConfiguration, tmp_path: Path) -> None:
    paths = to_json(made(configuration, tmp_path, None))["benchPack"]
    assert paths["version"] == "1.2.0"
    for name in ("dataDir", "cacheDir", "runsDir"):
        assert Path(paths[name]).is_dir()
