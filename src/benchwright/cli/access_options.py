"""Options for access to an endpoint (API key, headers, certificates), for all commands that use one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from benchwright.cli.command_help import combine_options, option

DecoratedFunction = TypeVar("DecoratedFunction", bound=Callable[..., Any])


class _Line(click.types.StringParamType):
    name = "line"
    envvar_list_splitter = "\n"
    """Separator of values in an environment variable: each line holds one header, since values may contain blanks."""


def _headers(_: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Return NAME=VALUE arguments (headers) as a dictionary. Error messages never contain a value."""
    flag, form = (
        max(parameter.opts, key=len),
        parameter.metavar if isinstance(parameter, click.Option) else "",
    )
    found: dict[str, str] = {}
    for value in values:
        name, separator, rest = value.partition("=")
        if not separator or not name or ":" in name:
            raise click.UsageError(f"{flag} takes {form}, with an equals sign and no colon.")
        found[name.strip()] = rest
    return found


def header_option(
    role: str = "", whose: str = "of every request", heading: str = "Model"
) -> Callable[[DecoratedFunction], DecoratedFunction]:
    """Return the options `--header` and `--header-env`.

    They are for the model, or for another `role` such as the judge.

    `whose`: words that complete the help text. `heading`: the heading under which the help lists the options.
    """
    flag, name = (
        (f"--{role}-header", f"{role.replace('-', '_')}_headers") if role else ("--header", "headers")
    )
    return combine_options(
        option(flag, name, multiple=True, type=_Line(), metavar="NAME=VALUE", heading=heading, rare=True,
               callback=_headers, help=f"Header {whose}; of a secret one only the name is kept. Repeatable."),
        option(f"{flag}-env", f"{name}_env", multiple=True, type=_Line(), metavar="NAME=VARIABLE",
               heading=heading, rare=True, callback=_headers,
               help=f"Header {whose}, from an environment variable. Repeatable."),
    )  # fmt: skip


api_key_option = option(
    "--api-key", metavar="KEY", heading="Model",
    help="API key; EMPTY sends none (default: $BENCHWRIGHT_API_KEY, then $OPENAI_API_KEY).",
)  # fmt: skip

_file = click.Path(dir_okay=False, path_type=Path)

access_options = combine_options(
    api_key_option,
    header_option(),
    option("--ca-file", type=_file, metavar="FILE", heading="Model", rare=True,
           help="PEM file of certificates to trust besides the system's."),
    option("--client-cert", type=_file, metavar="FILE", heading="Model", rare=True,
           help="PEM file with the client's certificate, for servers that ask for one."),
    option("--client-key", type=_file, metavar="FILE", heading="Model", rare=True,
           help="PEM file with its private key (default: in --client-cert)."),
)  # fmt: skip
"""Options for access to an endpoint: API key, headers and TLS files. The address has an option of its own."""

ACCESS_PARAMETERS = ("api_key", "headers", "headers_env", "ca_file", "client_cert", "client_key")
"""Parameter names of the options in `access_options`."""


def given_access_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the access options that the user gave.

    It is for commands that take all other settings from an existing run.
    """
    return {name: options[name] for name in ACCESS_PARAMETERS if options.get(name)}
