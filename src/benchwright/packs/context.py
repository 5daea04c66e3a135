"""The host context, which is passed to a pack's `prepare`: paths, providers, models, verifiers, and the relay."""

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
    """Access to the relay for a pack's requests: the base URL (ending in /v1) and the run's token.

    `docker_base_url`: the relay's URL as containers reach it; None if containers cannot reach the relay.
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
        """Create the directories if they do not exist."""
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
    """Build the context that `prepare` receives.

    With a relay, every provider has the relay's address, and every secret is the relay's token. So the pack
    never sees a real key. Without a relay (`--direct`), the pack gets the providers as configured, including
    their keys.
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
        secrets=configuration.keys.secret_resolutions(None if relay is None else relay.token),
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
            api_key=configuration.keys.get_key(model.provider),
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


TIMEOUT_SETTING = "request_timeout_seconds"
DEFAULT_TIMEOUT = 300.0
"""Time limit of one request in seconds: the default of the desktop host (BenchLocal)."""


def configured_timeout(given: Mapping[str, Any]) -> float | None:
    """Return the pack's or the user's `request_timeout_seconds`. Return None if neither the pack nor the user sets it.

    The desktop host (BenchLocal) applies this limit to a whole attempt, however many requests the attempt
    makes.
    """
    seconds = given.get(TIMEOUT_SETTING)
    return float(seconds) if isinstance(seconds, int | float) and seconds > 0 else None


def resolve_generation(
    defaults: Mapping[str, Any], overrides: Mapping[str, Any], timeout: float = DEFAULT_TIMEOUT
) -> GenerationRequest:
    """Merge a pack's default generation settings with the overrides. The pack sends the result.

    A setting that is in neither of them is absent, and must not be sent. `defaults`: the manifest's
    `samplingDefaults`, unfiltered. `overrides`: a value of None removes the setting. `timeout`: in seconds.
    """
    merged = {TIMEOUT_SETTING: timeout, **defaults, **overrides}
    return {name: value for name, value in merged.items() if value is not None}
