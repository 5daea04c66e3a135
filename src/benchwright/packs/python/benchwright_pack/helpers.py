"""The functions of `@benchlocal/sdk` under their Python names, with the same results and error texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

SCHEMA_VERSION = 1
PROTOCOL_VERSION = 1

Json = dict[str, Any]
Pack = TypeVar("Pack")


def define_bench_pack_manifest(manifest: Mapping[str, Any]) -> Json:
    """Return the manifest, with `schemaVersion` and `protocolVersion` added if they are missing."""
    return {"schemaVersion": SCHEMA_VERSION, "protocolVersion": PROTOCOL_VERSION, **manifest}


def define_bench_pack(pack: Pack) -> Pack:
    """Return the pack unchanged. This is the counterpart of a function of the SDK."""
    return pack


def load_bench_pack_manifest(module: str | Path) -> Json:
    """Load the manifest of the pack that contains a module. `module`: the module's `__file__`.

    Raises:
        FileNotFoundError: If no folder above the module has a manifest.
    """
    for folder in Path(module).resolve().parents:
        path = folder / "benchlocal.pack.json"
        if path.is_file():
            manifest: Json = json.loads(path.read_text(encoding="utf-8"))
            return manifest
    raise FileNotFoundError(f"no folder above {module} has a benchlocal.pack.json")


def require_scored_results(results: Iterable[Json]) -> list[Json]:
    """Return the results with 0 for each missing score."""
    return [{**result, "score": result.get("score") or 0} for result in results]


def create_host_helpers(context: Json) -> HostHelpers:
    """Return an object with methods that look things up in the host's context."""
    return HostHelpers(context)


class HostHelpers:
    """Look-ups in the host's context.

    Methods named `get_required_…`, and methods called with `required`, raise LookupError if they find
    nothing.
    """

    def __init__(self, context: Json) -> None:
        self._providers = _table(context.get("providers"), "id")
        self._secrets = _table(context.get("secrets"), "providerId")
        self._models = _table(context.get("models"), "id")
        self._verifiers = _table(context.get("verifiers") or context.get("sidecars"), "id")
        self._endpoints = _table(context.get("inferenceEndpoints"), "modelId")

    def get_provider(self, id: str, *, enabled_only: bool = False, required: bool = False) -> Json | None:
        """Return a provider. Return None if it does not exist. `enabled_only`: True to ignore disabled providers."""
        return _find(
            self._providers, "Provider", id, required,
            lambda item: not enabled_only or item["enabled"], "is configured but disabled.",
        )  # fmt: skip

    def get_required_provider(self, id: str, *, enabled_only: bool = False) -> Json:
        """Return a provider. Raises LookupError if it does not exist."""
        return self.get_provider(id, enabled_only=enabled_only, required=True) or {}

    def get_secret(self, provider_id: str) -> Json | None:
        """Return a provider's secret together with the secret's source. Return None if the provider has no secret."""
        return self._secrets.get(provider_id)

    def get_secret_value(self, provider_id: str) -> str | None:
        """Return a provider's secret. Return None if the provider has no secret."""
        return (self._secrets.get(provider_id) or {}).get("value")

    def get_required_secret_value(self, provider_id: str) -> str:
        """Return a provider's secret. Raises LookupError if the provider has none."""
        return self.get_secret_value(provider_id) or _missing("Secret", provider_id, "is missing.")

    def get_registered_model(self, id: str) -> Json | None:
        """Return a model. Return None if it does not exist."""
        return self._models.get(id)

    def get_required_model(self, id: str) -> Json:
        """Return a model. Raises LookupError if the model does not exist."""
        return self._models.get(id) or _missing("Model", id)

    def get_inference_endpoint(self, model_id: str) -> Json | None:
        """Return the endpoint of a model. Return None if it does not exist."""
        return self._endpoints.get(model_id)

    def get_required_inference_endpoint(self, model_id: str) -> Json:
        """Return the endpoint of a model. Raises LookupError if the endpoint does not exist or is not running."""
        found = self._endpoints.get(model_id) or _missing("Inference endpoint", model_id)
        if found["status"] != "running":
            _missing("Inference endpoint", model_id, found.get("details") or "is present but not running.")
        return found

    def get_verifier(self, id: str, *, running_only: bool = False, required: bool = False) -> Json | None:
        """Return a verifier. Return None if it does not exist. `running_only`: True to ignore those not running."""
        return _find(
            self._verifiers, "Verifier", id, required,
            lambda item: not running_only or item["status"] == "running", "is present but not running.",
        )  # fmt: skip

    def get_required_verifier(self, id: str, *, running_only: bool = False) -> Json:
        """Return a verifier. Raises LookupError if it does not exist."""
        return self.get_verifier(id, running_only=running_only, required=True) or {}

    def resolve_generation_request(self, overrides: Mapping[str, Any] | None = None) -> Json:
        """Return the generation settings in `overrides` whose value is not None."""
        return {name: value for name, value in (overrides or {}).items() if value is not None}

    def get_scenario_by_id(self, scenarios: Iterable[Json], id: str) -> Json:
        """Return the scenario with this id. Raises LookupError if there is no such scenario."""
        return next((item for item in scenarios if item["id"] == id), None) or _missing("Scenario", id)


def _table(items: Iterable[Json] | None, key: str) -> dict[str, Json]:
    return {item[key]: item for item in items or []}


def _find(
    among: dict[str, Json], kind: str, id: str, required: bool, usable: Callable[[Json], bool], unusable: str
) -> Json | None:
    item = among.get(id)
    if item is not None and usable(item):
        return item
    if required:
        _missing(kind, id, "was not found." if item is None else unusable)
    return None


def _missing(kind: str, id: str, what: str = "was not found.") -> NoReturn:
    raise LookupError(f'{kind} "{id}" {what}')
