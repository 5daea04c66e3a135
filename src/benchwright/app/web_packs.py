"""`pack open`: finds a web pack by folder, address or name, and opens its session with models for its page."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchwright.app.endpoints import make_client
from benchwright.app.pack_setup import prepare_chosen_models
from benchwright.app.pack_store import install_settings
from benchwright.config import PackSettings
from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.relay import Relay, RelayedRequest
from benchwright.errors import UserError
from benchwright.home import packs_directory, web_sessions_directory
from benchwright.packs.install import InstallSettings, find_pack, read_registry
from benchwright.packs.install.download import download
from benchwright.packs.install.sources import is_http_url
from benchwright.packs.manifest import MANIFEST_NAME, MAX_MANIFEST_BYTES, PackManifest, read_manifest
from benchwright.packs.manifest_check import check_manifest
from benchwright.packs.versions import incompatibility_reason
from benchwright.packs.web_history import WebSession, load_session
from benchwright.packs.web_pack import KNOWN_PERMISSIONS, WebPack, web_pack_of
from benchwright.text import Say


class OpenWebPack(NamedTuple):
    """A web pack that is open: its session, and the access of the pack's page to the models through a relay.

    `providers`: the models' providers, for the page. `relay_key`: the page's own key for the relay at `relay_url`.
    `is_replay`: True if a saved session is continued.
    """

    session: WebSession
    providers: dict[str, str]
    relay_url: str
    relay_key: str
    is_replay: bool


def find_web_pack(reference: str, registry: str | None, compatible_version: str | None) -> WebPack:
    """Return a web pack by its folder, manifest address, installed id, or name in the registry.

    Raises:
        UserError: If there is no such pack, or it is not a web pack that this host can show.
    """
    settings = install_settings(registry, None, compatible_version)
    if is_http_url(reference):
        manifest = _fetched(reference, settings)
    else:
        manifest = _here(reference, settings) or _in_registry(reference, settings)
    pack = web_pack_of(manifest)
    if reason := incompatibility_reason(manifest.requirements, settings.compatible_version):
        raise UserError(f"{pack.id} cannot be shown: {reason}.")
    return pack


@asynccontextmanager
async def open_web_pack(
    pack: WebPack, settings: PackSettings, history: str | None, say: Say
) -> AsyncIterator[OpenWebPack]:
    """Open the session of a web pack, with its models behind a relay that meters the page's requests.

    `history`: the saved session to continue, None for a new one.

    Raises:
        UserError: If the models, the settings or the session are invalid.
    """
    storage = web_sessions_directory()
    saved = None if history is None else load_session(storage, pack.id, history)
    configuration, models, targets, access = prepare_chosen_models(
        settings.endpoint, settings.sampling, say, direct=settings.process.direct
    )
    session = WebSession(pack, list(models.values()), storage, saved)
    clients: dict[str, EndpointClient] = {}
    for target in targets:
        client = make_client(target, access[target.slot], settings, settings.execution.max_trials_in_flight)
        assert isinstance(client, EndpointClient), "packs are given addresses"
        clients[models[target.slot].id] = client
    ids = {slot: model.id for slot, model in models.items()}

    def note(relayed: RelayedRequest) -> None:
        session.count_request(ids[relayed.record.slot], relayed.record)

    try:
        async with Relay() as relay:
            grant = relay.open_shared_grant(clients, note)
            names = {provider.id: provider.name for provider in configuration.providers}
            yield OpenWebPack(session, names, relay.base_url, grant.token, saved is not None)
    finally:
        for client in clients.values():
            client.close()
        session.close()


def _here(reference: str, settings: InstallSettings) -> PackManifest | None:
    try:
        return find_pack(reference, packs_directory(), settings.compatible_version).inspection.manifest
    except UserError:
        if "/" in reference:
            raise
        return None


def _in_registry(name: str, settings: InstallSettings) -> PackManifest:
    """Return the manifest of a pack in the registry.

    If the registry entry names no manifest, derive one from the entry.
    """
    entries = read_registry(settings.registry, settings.limits).entries
    entry = next((one for one in entries if one.id == name), None)
    if entry is None:
        raise UserError(f"{name} is neither a folder nor a pack that is installed or in the registry.")
    if entry.page_url is None:
        raise UserError(f"{name} is not a web pack: install it with: benchwright pack install {name}")
    source: dict[str, Any] = entry.raw["source"]
    if not isinstance(address := source.get("manifest"), str):
        return _checked(_standing_for(entry.raw, source), f"The registry's entry of {name}")
    manifest = _fetched(address, settings)
    if (manifest.id, manifest.version) != (entry.id, entry.version):
        raise UserError(
            f"{address} is {manifest.id} {manifest.version}, and the registry says {entry.id} {entry.version}."
        )
    return manifest


def _standing_for(raw: dict[str, Any], source: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest that the desktop host derives from a registry entry that names no manifest.

    The derived manifest has all permissions, and its page may open no other origin.
    """
    kept = {key: raw[key] for key in ("id", "name", "version", "author", "description") if raw.get(key)}
    web = {
        "bridgeVersion": 1,
        "allowedOrigins": [],
        "permissions": sorted(KNOWN_PERMISSIONS),
        "historyPlayback": True,
    }
    return {
        **kept,
        "schemaVersion": 1,
        "protocolVersion": 1,
        "type": "web",
        "entry": source.get("entry"),
        "web": {**web, "buildId": source.get("buildId")},
        "capabilities": {"verification": False},
    }


def _fetched(address: str, settings: InstallSettings) -> PackManifest:
    with tempfile.TemporaryDirectory(prefix="benchwright-web-") as room:
        download(address, Path(room, MANIFEST_NAME), MAX_MANIFEST_BYTES, settings.limits)
        return read_manifest(Path(room))


def _checked(raw: dict[str, Any], where: str) -> PackManifest:
    manifest, problems = check_manifest(raw)
    if manifest is None:
        raise UserError(f"{where} is not valid: {'; '.join(problems)}.")
    return manifest


def chat_completion_body(asked: Any, *, stream: bool) -> bytes:
    """Return the body of a chat completion for a page's request (BenchLocalChatRequest).

    Raises:
        UserError: If the request has no model or no messages.
    """
    model, messages = (asked.get(key) if isinstance(asked, dict) else None for key in ("modelId", "messages"))
    if not isinstance(model, str) or not isinstance(messages, list):
        raise UserError("A request has a modelId and messages.")
    generation = asked.get("generation")
    generation = generation if isinstance(generation, dict) else {}
    body = {
        "model": model,
        "messages": messages,
        "stream": stream,
        **({"tools": asked["tools"]} if asked.get("tools") else {}),
        **({"tool_choice": asked["toolChoice"]} if asked.get("toolChoice") is not None else {}),
        **{key: generation[key] for key in GENERATION_FIELDS if generation.get(key) is not None},
    }
    extra = generation.get("extra_body")
    more = (
        {}
        if not isinstance(extra, dict)
        else {k: v for k, v in extra.items() if k not in ("model", "stream")}
    )
    return msgspec.json.encode({**body, **more})


GENERATION_FIELDS: Sequence[str] = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "max_tokens",
    "seed",
    "stop",
    "repetition_penalty",
    "presence_penalty",
    "frequency_penalty",
    "reasoning",
    "provider_options",
)
"""Generation settings of a page's request that are passed on unchanged."""
