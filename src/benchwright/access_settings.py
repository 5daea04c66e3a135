"""What a user writes of the way into an endpoint: headers, and files for TLS."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, PlainSerializer, SecretStr

from benchwright.headers import check_name, check_value, is_secret


def _checked_headers(headers: dict[str, SecretStr | None]) -> dict[str, SecretStr | None]:
    _check_each_once(headers)
    return {
        check_name(name): None if value is None else SecretStr(check_value(name, value.get_secret_value()))
        for name, value in headers.items()
    }


def _checked_names(variables: dict[str, str]) -> dict[str, str]:
    _check_each_once(variables)
    return {check_name(name): variable for name, variable in variables.items()}


def _check_each_once(headers: Mapping[str, Any]) -> None:
    names = [name.lower() for name in headers]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"the header {twice} is there twice")


def _without_secrets(headers: Mapping[str, SecretStr | None]) -> dict[str, str | None]:
    """What is kept of headers: of a secret one its name."""
    shown = {name: None if value is None else value.get_secret_value() for name, value in headers.items()}
    return {name: None if value is None or is_secret(name, value) else value for name, value in shown.items()}


def _none_is_empty(given: Any) -> Any:
    return {} if given is None else given


Headers = Annotated[
    dict[str, SecretStr | None],
    BeforeValidator(_none_is_empty),
    AfterValidator(_checked_headers),
    PlainSerializer(_without_secrets, when_used="json"),
]
"""Headers by name. A value of None stands for a secret one of a run that exists, which was not kept."""

PlainHeaders = Annotated[dict[str, str], BeforeValidator(_none_is_empty), AfterValidator(_checked_names)]
"""Headers of another role than the model, by name. Secret ones come from environment variables only."""

HeadersEnv = Annotated[dict[str, str], BeforeValidator(_none_is_empty), AfterValidator(_checked_names)]
"""Names of environment variables that hold headers, by the header's name. What they hold is secret."""


class AccessSettings(BaseModel):
    """What a request to an endpoint needs besides its address and a key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    headers: Headers = {}
    """Headers of every request to the endpoint; one takes the place of ours with the same name."""
    headers_env: HeadersEnv = {}
    ca_file: Path | None = None
    """Certificates (PEM) that are trusted besides those of the system."""
    client_cert: Path | None = None
    """The certificate (PEM) by which servers know this client."""
    client_key: Path | None = None
    """Its private key, if it lies in a file of its own."""
