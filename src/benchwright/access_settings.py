"""Settings by which users give access to an endpoint: headers and TLS files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, PlainSerializer, SecretStr

from benchwright.headers import check_header_name, check_header_value, is_secret_header


def _checked_headers(headers: dict[str, SecretStr | None]) -> dict[str, SecretStr | None]:
    _check_each_once(headers)
    return {
        check_header_name(name): None
        if value is None
        else SecretStr(check_header_value(name, value.get_secret_value()))
        for name, value in headers.items()
    }


def _checked_names(variables: dict[str, str]) -> dict[str, str]:
    _check_each_once(variables)
    return {check_header_name(name): variable for name, variable in variables.items()}


def _check_each_once(headers: Mapping[str, Any]) -> None:
    names = [name.lower() for name in headers]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"the header {twice} is there twice")


def _without_secrets(headers: Mapping[str, SecretStr | None]) -> dict[str, str | None]:
    """Return headers as they are stored: the value of a secret header becomes None."""
    shown = {name: None if value is None else value.get_secret_value() for name, value in headers.items()}
    return {
        name: None if value is None or is_secret_header(name, value) else value
        for name, value in shown.items()
    }


def _none_is_empty(given: Any) -> Any:
    return {} if given is None else given


Headers = Annotated[
    dict[str, SecretStr | None],
    BeforeValidator(_none_is_empty),
    AfterValidator(_checked_headers),
    PlainSerializer(_without_secrets, when_used="json"),
]
"""Type: header values by name.

The value None stands for a secret header of an existing run, whose value was not stored.
"""

PlainHeaders = Annotated[dict[str, str], BeforeValidator(_none_is_empty), AfterValidator(_checked_names)]
"""Type: header values by name, for a role other than the model (judge, baseline).

Secret headers of such a role come from environment variables only.
"""

HeadersEnv = Annotated[dict[str, str], BeforeValidator(_none_is_empty), AfterValidator(_checked_names)]
"""Type: for each header name, the environment variable that holds the header's value. These values are secret."""


class AccessSettings(BaseModel):
    """Settings for requests to an endpoint besides its address and API key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    headers: Headers = {}
    """Headers sent with every request to the endpoint.

    A header here replaces Benchwright's own header of the same name.
    """
    headers_env: HeadersEnv = {}
    ca_file: Path | None = None
    """CA certificates (PEM) that are trusted in addition to the system's."""
    client_cert: Path | None = None
    """Client certificate (PEM) presented to servers."""
    client_key: Path | None = None
    """Private key of the client certificate (PEM), if it is stored in a separate file."""
