"""Settings of the models under test and of the endpoint that serves them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SecretStr, model_validator

from benchwright.access_settings import AccessSettings
from benchwright.config.sampling import ReasoningEffort, ThinkingStyle


class ModelEntry(AccessSettings):
    """One of several models, with settings of its own. If a setting is None, the setting that all models share is used.

    `name`: name in results, by default `model`. `api_key_env`: environment variable that holds the API key.
    """

    model: str
    name: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = None
    max_tokens: int | None = Field(default=None, gt=0)
    seed: int | None = None
    param: dict[str, Any] = {}
    reasoning_effort: ReasoningEffort | None = None
    thinking_budget: int | None = Field(default=None, ge=0)
    thinking_style: ThinkingStyle | None = None

    @property
    def title(self) -> str:
        """Name of the model in results."""
        return self.name or self.model


def _entry(given: Any) -> Any:
    return {"model": given} if isinstance(given, str) else given


Models = tuple[Annotated[ModelEntry, BeforeValidator(_entry)], ...]
"""Type: several models. A plain string is a model without settings of its own."""


class EndpointSettings(AccessSettings):
    """The models under test, the address that they share, and the access to that address."""

    model: str | None = None
    """The model, or the first of several."""
    models: Models = ()
    """All models under test, if there are several. Each sample is tried with one model after another."""
    base_url: str | None = None
    api_key: SecretStr | None = None

    @model_validator(mode="before")
    @classmethod
    def _first_model(cls, given: Any) -> Any:
        if not isinstance(given, dict) or not given.get("models"):
            return given
        first = given["models"][0]
        name = first if isinstance(first, str) else getattr(first, "model", None) or first.get("model")
        return {**given, "model": name}

    @property
    def models_under_test(self) -> Models:
        """The models under test, as a tuple even if there is only one."""
        if self.models or self.model is None:
            return self.models
        return (ModelEntry(model=self.model),)
