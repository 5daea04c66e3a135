"""API keys of providers, kept out of every text representation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from benchwright.packs.types import SecretResolution
from benchwright.secrets import SECRETS


def is_sendable(key: str | None) -> bool:
    """Return True if the key can be sent in an HTTP header, or is None."""
    return key is None or (key.isascii() and key.isprintable())


class _Key(NamedTuple):
    name: str
    source: Literal["config", "env", "none"]
    value: str | None


class ProviderKeys:
    """API keys by provider. The text representation lists provider ids only, never keys."""

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

        It is `key`, or else the value of the environment variable `variable`.
        """
        more = ProviderKeys()
        value = key or ((environ or {}).get(variable) if variable else None) or None
        SECRETS.add(value)
        source: Literal["config", "env", "none"] = "config" if key else "env" if value else "none"
        more._keys = {**self._keys, provider_id: _Key(variable or "api_key", source, value)}
        return more

    def value(self, provider_id: str) -> str | None:
        """Return a provider's key, or None if it has none."""
        known = self._keys.get(provider_id)
        return known.value if known else None

    def resolutions(self, token: str | None = None) -> list[SecretResolution]:
        """Return one secret per provider, as packs receive them.

        A secret is the provider's own key or, if `token` is given, this token in its place. A provider
        without a key gets the token too, because the relay requires it.
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
