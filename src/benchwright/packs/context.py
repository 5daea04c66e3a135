"""The host context: what a pack is told when it prepares a run: generation settings, and the relay for providers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchwright.packs.configuration import PackConfiguration
from benchwright.packs.manifest import PackManifest
from benchwright.packs.types import (
    GenerationRequest,
    HostContext,
    InferenceEndpoint,
    PackPaths,
    RegisteredModel,
    VerifierEndpoint,
)
from benchwright.records import Record


class RelayAccess(Record, frozen=True):
    """Where a pack's requests go: the relay's base URL (ending in /v1) and the run's token.

    `docker_base_url` is how containers reach it, None where they do not.
    """

    base_url: str
    token: str
    docker_base_url: str | None = None


class PackDirectories(Record, frozen=True):
    """The directories that a pack may write to."""

    data: Path
    cache: Path
    run: Path

    def create(self) -> None:
        """Makes them."""
        for path in (self.data, self.cache, self.run):
            path.mkdir(parents=True, exist_ok=True)


def host_context(
    manifest: PackManifest,
    directory: Path,
    directories: PackDirectories,
    configuration: PackConfiguration,
    models: Sequence[RegisteredModel],
    verifiers: Sequence[VerifierEndpoint],
    relay: RelayAccess | None,
) -> HostContext:
    """Everything that `prepare` is given.

    With a relay, every provider is at its address and every secret is its token: no real key is in what the pack
    sees. Without one (`--direct`) it gets the providers as they are configured, keys included.
    """
    providers = configuration.providers
    if relay is not None:
        providers = [
            msgspec.structs.replace(provider, base_url=relay.base_url, auth_mode="bearer")
            for provider in providers
        ]
    return HostContext(
        bench_pack=PackPaths(
            id=manifest.id,
            version=manifest.version,
            install_dir=str(directory),
            data_dir=str(directories.data),
            cache_dir=str(directories.cache),
            runs_dir=str(directories.run),
        ),
        providers=list(providers),
        models=[model for model in configuration.models if model.enabled],
        secrets=configuration.keys.resolutions(None if relay is None else relay.token),
        verifiers=list(verifiers),
        inference_endpoints=[_endpoint(model, configuration, relay) for model in models],
    )


def _endpoint(
    model: RegisteredModel, configuration: PackConfiguration, relay: RelayAccess | None
) -> InferenceEndpoint:
    if relay is None:
        provider = next(one for one in configuration.providers if one.id == model.provider)
        return InferenceEndpoint(
            model_id=model.id,
            provider_id=model.provider,
            status="running",
            base_url=f"{provider.base_url.rstrip('/')}/",
            auth_mode=provider.auth_mode,
            api_key=configuration.keys.value(model.provider),
            exposed_model=model.model,
        )
    return InferenceEndpoint(
        model_id=model.id,
        provider_id=model.provider,
        status="running",
        base_url=f"{relay.base_url}/",
        docker_base_url=None if relay.docker_base_url is None else f"{relay.docker_base_url}/",
        auth_mode="bearer",
        api_key=relay.token,
        exposed_model=model.id,
    )


TIMEOUT = "request_timeout_seconds"
DEFAULT_TIMEOUT = 300.0
"""Seconds for one request, as the desktop host has it."""


def own_timeout(given: Mapping[str, Any]) -> float | None:
    """The `request_timeout_seconds` that the pack or the user sets; None where neither does.

    The desktop host has an attempt end after so long, however many requests it makes.
    """
    seconds = given.get(TIMEOUT)
    return float(seconds) if isinstance(seconds, int | float) and seconds > 0 else None


def resolve_generation(
    defaults: Mapping[str, Any], overrides: Mapping[str, Any], timeout: float = DEFAULT_TIMEOUT
) -> GenerationRequest:
    """What packs are told to send: a setting that nobody gives is absent, and must not be sent.

    `defaults` are the manifest's `samplingDefaults`, unfiltered. An override of None takes a setting away.
    """
    merged = {TIMEOUT: timeout, **defaults, **overrides}
    return {name: value for name, value in merged.items() if value is not None}
