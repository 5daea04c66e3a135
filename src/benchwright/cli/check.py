"""`benchwright check`: is there a server, and does it serve the model?"""

from __future__ import annotations

import sys
from typing import Any

import click

from benchwright.cli.access_options import access_options
from benchwright.cli.grammar import Command
from benchwright.cli.option_values import make_settings
from benchwright.cli.options import LOCAL, base_url_option, one_model_option
from benchwright.cli.output import coloured, echo, say

EXAMPLES = """\b
Examples:
  llm-bench --model meta-llama/Llama-3.1-8B-Instruct check
  benchwright check --model my-model --base-url http://gpu-server:8000/v1
"""


@click.command("check", cls=Command, epilog=EXAMPLES, context_settings={"auto_envvar_prefix": "BENCHWRIGHT"})
@one_model_option(required=True)
@base_url_option(LOCAL)
@access_options
def command(model: str, base_url: str | None, **options: Any) -> None:
    """Check that an endpoint can be reached and serves the model.

    Exits with 0 if the server answers, even if it does not list the model (a warning), else with 1.
    """
    from benchwright.access_settings import AccessSettings
    from benchwright.app.access import given_access
    from benchwright.app.loop import run_async
    from benchwright.endpoint.providers import find_access, find_target
    from benchwright.endpoint.server_info import list_models
    from benchwright.errors import ProviderError
    from benchwright.suggest import did_you_mean
    from benchwright.text import plain

    key = options.pop("api_key")
    given = given_access(make_settings(AccessSettings, options), key)
    target = find_target(model, base_url or LOCAL, access=given)
    access = find_access(given, target, say)
    try:
        models = run_async(list_models(target.base_url, access))
    except ProviderError as error:
        echo(coloured(f"Connection failed: {plain(str(error))}", "red"), err=True)
        sys.exit(1)
    if model in models:
        echo(coloured(f"Connected to {target.base_url}. Model {plain(model)!r} is available.", "green"))
        return
    shown = ", ".join(plain(name) for name in models[:10]) or "none"
    hint = did_you_mean(model, models)
    but = f"it does not list the model {plain(model)!r}.{hint} It lists: {shown}."
    echo(coloured(f"Connected to {target.base_url}, but {but}", "yellow"))
