"""Builds the access to an endpoint (API key, headers, TLS files) from user settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.endpoint.access import Access, Header, make_headers
from benchwright.endpoint.credentials import read_key
from benchwright.endpoint.tls import TlsFiles
from benchwright.errors import UserError
from benchwright.headers import check_header_name, check_header_value, is_secret_header

if TYPE_CHECKING:
    from pydantic import SecretStr

    from benchwright.access_settings import AccessSettings
    from benchwright.config import EndpointSettings, ModelEntry


def access_from_settings(settings: AccessSettings, key: str | None) -> Access:
    """Return the access that the settings describe. `key`: the API key.

    Raises:
        UserError: If an environment variable is not set or holds no valid header, or a secret header has to
            be given again.
    """
    secret = {name: _value_in(name, variable) for name, variable in settings.headers_env.items()}
    given = {name: _value_of(name, value) for name, value in settings.headers.items() if name not in secret}
    return Access(key, make_headers(given, secret), tls_files(settings))


def access_of_model(endpoint: EndpointSettings, entry: ModelEntry, key: str | None) -> Access:
    """Return the access to a model: the model's own headers, and the shared headers that the model does not replace.

    A model's own header replaces the shared header of the same name. A model at another address than the shared one
    gets no shared headers. Shared TLS files apply to every address, unless the model has TLS files of its own.

    Raises:
        UserError: If `access_from_settings` raises it.
    """
    own = access_from_settings(entry, key)
    if has_own_address(endpoint, entry):
        headers = own.headers
    else:
        replaced = own.header_names
        shared = access_from_settings(endpoint, key).headers
        headers = (*(one for one in shared if one.name.lower() not in replaced), *own.headers)
    has_own = entry.ca_file or entry.client_cert or entry.client_key
    return Access(key, headers, own.tls if has_own else tls_files(endpoint))


def has_own_address(endpoint: EndpointSettings, entry: ModelEntry) -> bool:
    """Return True if a model's address differs from the shared one.

    Shared keys and headers are not sent to such a model.
    """
    return entry.base_url is not None and entry.base_url != endpoint.base_url


def header_variable_names(endpoint: EndpointSettings, *others: Mapping[str, str]) -> set[str | None]:
    """Return the names of the environment variables that hold headers, for the models under test and for other roles.

    `others`: for each other role, such as a judge, a mapping from header name to variable name.
    """
    named = [endpoint.headers_env, *(entry.headers_env for entry in endpoint.models), *others]
    return {variable for variables in named for variable in variables.values()}


def role_access(endpoint: EndpointSettings, option: Mapping[str, str], role: str) -> Access:
    """Return the access to the endpoint of a role other than the model under test, such as a judge.

    A benchmark's options describe that access. Their names begin with the role (`judge_api_key_env`). The TLS files are
    those of the models' endpoint.

    Raises:
        UserError: If a variable is not set, a header is invalid, or a secret header is written into an
            option.
    """
    key, variable = None, option.get(f"{role}_api_key_env")
    if variable is not None:
        key = read_key(variable, f"--option {role}_api_key_env")
    headers, variables = (_pairs(option, f"{role}_{kind}") for kind in ("headers", "headers_env"))
    return Access(key, role_headers(f"{role}_headers", headers, variables), tls_files(endpoint))


def role_header_variable_names(option: Mapping[str, str]) -> set[str | None]:
    """Return the names of the environment variables that hold headers of other roles, such as a judge.

    A benchmark's options state these names.
    """
    named = [name for name in option if name.endswith("_headers_env")]
    return {variable for name in named for variable in _pairs(option, name).values()}


def _pairs(option: Mapping[str, str], name: str) -> dict[str, str]:
    """Return the headers in a benchmark's option, as {name: value}. The option holds one NAME=VALUE per line."""
    lines = (line.partition("=") for line in option.get(name, "").splitlines())
    return {header.strip(): value for header, _, value in lines}


def role_headers(option: str, headers: Mapping[str, str], variables: Mapping[str, str]) -> tuple[Header, ...]:
    """Return the headers for a judge or another role.

    `headers`: typed values by header name; they are stored with the run, so none of them may be secret.
    `variables`: environment variables with header values, by header name. `option`: the option's name, for error
    messages.

    Raises:
        UserError: If a header is invalid, a variable is not set, or a secret header does not come from a
            variable.
    """
    given = {}
    for name, value in headers.items():
        try:
            given[name] = check_header_value(check_header_name(name), value)
        except ValueError as error:
            raise UserError(f"{option}: {error}.") from None
        if is_secret_header(name, value):
            raise UserError(
                f"{option}: {name} is secret: name a variable that holds it, with {_env(option)}."
            )
    return make_headers(given, {name: _value_in(name, variable) for name, variable in variables.items()})


def _env(option: str) -> str:
    """Return the name of the option for environment variables with header values.

    `option`: the option for the header values themselves. `judge_header` gives `judge_header_env`.
    """
    return f"{option}-env" if option.startswith("--") else f"{option}_env"


def tls_files(settings: AccessSettings) -> TlsFiles:
    """Return the TLS files that the settings name."""
    return TlsFiles(_text(settings.ca_file), _text(settings.client_cert), _text(settings.client_key))


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path.expanduser())


def _value_in(name: str, variable: str) -> str:
    value = os.environ.get(variable)
    if not value:
        raise UserError(f"The header {name} is to come from the variable {variable}, which is not set.")
    try:
        return check_header_value(name, value)
    except ValueError as error:
        raise UserError(f"The variable {variable}: {error}.") from None


def _value_of(name: str, value: SecretStr | None) -> str:
    if value is None:
        raise UserError(
            f"The header {name} is secret, and was not kept with the run: give it again, with --header or --header-env."
        )
    return value.get_secret_value()
