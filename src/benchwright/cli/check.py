"""`benchwright check`: is there a server, and does it serve the model?"""

from __future__ import annotations

import sys

import click

from benchwright.cli.grammar import Command
from benchwright.cli.options import LOCAL, api_key_option, base_url_option, one_model_option
from benchwright.cli.output import coloured, echo, say

EXAMPLES = """\b
Examples:
  llm-bench --model meta-llama/Llama-3.1-8B-Instruct check
  benchwright check --model my-model --base-url http://gpu-server:8000/v1
"""


@click.command("check", cls=Command, epilog=EXAMPLES, context_settings={"auto_envvar_prefix": "BENCHWRIGHT"})
@one_model_option(required=True)
@base_url_option(LOCAL)
@api_key_option
def command(model: str, base_url: str | None, api_key: str | None) -> None:
    """Check that an endpoint can be reached and serves the model.

    Exits with 0 if the server answers, even if it does not list the model (a warning), else with 1.
    """
    from benchwright.app.loop import run_async
    from benchwright.endpoint.providers import find_key, find_target
    from benchwright.endpoint.server_info import list_models
    from benchwright.errors import ProviderError
    from benchwright.suggest import did_you_mean
    from benchwright.text import plain

    target = find_target(model, base_url or LOCAL)
    key = find_key(api_key, target, say)
    try:
        models = run_async(list_models(target.base_url, key))
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
