"""`benchwright check`: is there a server, and does it serve the model?"""

from __future__ import annotations

import sys

import click

from benchwright.cli.output import coloured, echo, say

EXAMPLES = """\b
Examples:
  llm-bench --model meta-llama/Llama-3.1-8B-Instruct check
  benchwright check --base-url http://gpu-server:8000/v1 --model Qwen/Qwen2.5-72B-Instruct
"""


@click.command("check", epilog=EXAMPLES, context_settings={"auto_envvar_prefix": "BENCHWRIGHT"})
@click.option("--model", metavar="MODEL", required=True, help="Name of the model, as the endpoint lists it.")
@click.option("--base-url", metavar="URL", default="http://localhost:8000/v1", show_default=True,
              help="Base URL of the endpoint.")  # fmt: skip
@click.option(
    "--api-key",
    metavar="KEY",
    help="API key; EMPTY sends none (default: $BENCHWRIGHT_API_KEY, then $OPENAI_API_KEY).",
)
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def command(model: str, base_url: str, api_key: str | None, debug: bool) -> None:
    """Check that an endpoint can be reached and serves the model.

    Exits with 0 if the server answers, even if it does not list the model (a warning), else with 1.
    """
    from benchwright.app.loop import run_async
    from benchwright.endpoint.providers import find_key, find_target
    from benchwright.endpoint.server_info import list_models
    from benchwright.errors import ProviderError
    from benchwright.suggest import did_you_mean
    from benchwright.text import plain

    target = find_target(model, base_url)
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
