"""API keys of providers. No text representation contains a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from benchwright.packs.types import SecretResolution
from benchwright.secrets import SECRETS


def is_sendable(key: str | None) -> bool:
    """Return True if the key is None, or can be sent in an HTTP header."""
    return key is None or (key.isascii() and key.isprintable())


class _Key(NamedTuple):
    name: str
    source: Literal["config", "env", "none"]
    value: str | None


class ProviderKeys:
    """API keys by provider. The text representation lists the ids of providers, never keys."""

    def __init__(self) -> None:
        self._keys: dict[str, _Key] = {}

    def with_key(
        self,
        provider_id: str,
        key: str | None,
        variable: str | None,
        environ: Mapping[str, str] | None = None,
    ) -> ProviderKeys:
        """Return a copy with the key of one more provider.

        The key is `key`. If that is None, it is the value of the environment variable `variable`.
        """
        more = ProviderKeys()
        value = key or ((environ or {}).get(variable) if variable else None) or None
        SECRETS.add(value)
        source: Literal["config", "env", "none"] = "config" if key else "env" if value else "none"
        more._keys = {**self._keys, provider_id: _Key(variable or "api_key", source, value)}
        return more

    def get_key(self, provider_id: str) -> str | None:
        """Return a provider's key. Return None if the provider has none."""
        known = self._keys.get(provider_id)
        return known.value if known else None

    def secret_resolutions(self, token: str | None = None) -> list[SecretResolution]:
        """Return one secret per provider, in the form in which packs receive them.

        If `token` is given, it is the secret of every provider, even of a provider without a key, because the
        relay requires it. Otherwise the secret is the provider's own key.
        """
        return [
            SecretResolution(
                provider_id,
                known.name,
                known.source if known.value or token is None else "config",
                token or known.value,
            )
            for provider_id, known in self._keys.items()
        ]

    def __repr__(self) -> str:
        return f"ProviderKeys({', '.join(self._keys)})"
