"""`benchwright check`: finds out whether an endpoint serves the model, and what it can do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.access_options import access_options
from benchwright.cli.command_help import Command, option
from benchwright.cli.option_values import make_settings
from benchwright.cli.options import DOCUMENTED_PROGRAM, base_url_option, json_option, one_model_option
from benchwright.cli.output import CLEAR_LINE, clean_text, colour_text, echo, print_json, print_table, say
from benchwright.endpoint.default_server import DEFAULT_SERVER_HELP, DOCUMENTED_SERVER, default_server

if TYPE_CHECKING:
    from benchwright.endpoint.access import Access
    from benchwright.endpoint.card import Examination
    from benchwright.records import Target

EXAMPLES = """\b
Examples:
  llm-bench --model meta-llama/Llama-3.1-8B-Instruct check
  benchwright check --model my-model --base-url http://gpu-server:8000/v1
  benchwright check --model my-model --base-url http://gpu-server:8000/v1 --json
"""

KEY_REFUSED_STATUSES = (401, 403)
INTERRUPTED_EXIT_CODE = 130


@click.command("check", cls=Command, epilog=EXAMPLES, context_settings={"auto_envvar_prefix": "BENCHWRIGHT"})
@one_model_option(required=True)
@base_url_option(DEFAULT_SERVER_HELP)
@access_options
@option(
    "--card/--brief",
    default=None,
    type=bool,
    heading="Output",
    help="Show what the endpoint can do, or only look for the model (default: the card, but for llm-bench).",
)
@option(
    "--request-seconds",
    type=float,
    metavar="SECONDS",
    default=30.0,
    heading="Limits",
    rare=True,
    help="Maximum seconds of one request.",
)
@json_option  # fmt: skip
@click.pass_context
def command(
    context: click.Context,
    /,
    model: str,
    base_url: str | None,
    card: bool | None,
    request_seconds: float,
    as_json: bool,
    **options: Any,
) -> None:
    """Check that an endpoint serves the model, and find out what it can do.

    Sends at most 40 short requests, one after the other, and shows what each finding means for evaluations. Exits with
    0 if the server answers, even if it does not list the model (a warning), else with 1.
    """
    from benchwright.access_settings import AccessSettings
    from benchwright.app.access import access_from_settings
    from benchwright.endpoint.providers import find_access, find_target

    key = options.pop("api_key")
    given = access_from_settings(make_settings(AccessSettings, options), key)
    is_documented = context.find_root().info_name == DOCUMENTED_PROGRAM
    server = DOCUMENTED_SERVER if is_documented else default_server()
    target = find_target(model, base_url or server.base_url, access=given)
    if not base_url:
        say(server.line)
    access = find_access(given, target, say)
    if card is None:
        card = as_json or not is_documented
    _look_for_model(target, access, card=card, as_json=as_json)
    if card:
        sys.exit(_show_card(target, access, request_seconds, as_json=as_json))


def _look_for_model(target: Target, access: Access, *, card: bool, as_json: bool) -> None:
    """Print whether the endpoint lists the model. Exit the command if it cannot be reached or refuses the key.

    `card`: True if a card is printed afterwards. A server without a list of models is then no error.
    """
    from benchwright.app.event_loop import run_async
    from benchwright.endpoint.server_info import list_models
    from benchwright.errors import ProviderError
    from benchwright.text import make_safe

    try:
        models = run_async(list_models(target.base_url, access))
    except ProviderError as error:
        if card and error.http_status is not None and error.http_status not in KEY_REFUSED_STATUSES:
            refusal = make_safe(
                str(error).partition(" answered ")[2].rstrip(".") or f"HTTP {error.http_status}"
            )
            echo(
                colour_text(f"Connected to {target.base_url}, but it lists no models ({refusal}).", "yellow"),
                err=as_json,
            )
            return
        echo(colour_text(f"Connection failed: {make_safe(str(error))}", "red"), err=True)
        sys.exit(1)
    colour, text = _about_model(target, models)
    echo(colour_text(text, colour), err=as_json)


def _about_model(target: Target, models: Sequence[str]) -> tuple[str, str]:
    """Return a colour and a sentence on whether the endpoint lists the model."""
    from benchwright.suggestions import did_you_mean
    from benchwright.text import make_safe

    model = target.model
    if model in models:
        return "green", f"Connected to {target.base_url}. Model {make_safe(model)!r} is available."
    shown = ", ".join(make_safe(name) for name in models[:10]) or "none"
    hint = did_you_mean(model, models)
    but = f"it does not list the model {make_safe(model)!r}.{hint} It lists: {shown}."
    return "yellow", f"Connected to {target.base_url}, but {but}"


def _show_card(target: Target, access: Access, seconds: float, *, as_json: bool) -> int:
    """Examine the endpoint and print its card (what it supports). Return the exit code.

    After Ctrl-C, the findings so far are printed.
    """
    from benchwright.app.endpoint_card import prepare_examination, run_examination
    from benchwright.app.event_loop import run_async
    from benchwright.endpoint.card import make_card
    from benchwright.reports.card import render_card

    def show(sent: int) -> None:
        if sys.stderr.isatty():
            echo(clean_text(CLEAR_LINE, f"Request {sent}: {known.looking_for} …"), err=True, end="")

    known = prepare_examination(target, access, seconds, show)
    interrupted = False
    try:
        run_async(run_examination(known))
    except KeyboardInterrupt:
        interrupted = True
    if sys.stderr.isatty():
        echo(CLEAR_LINE, err=True, end="")
    found = make_card(known, "interrupted")
    if as_json:
        print_json(found)
    else:
        print_table(render_card(found))
    return INTERRUPTED_EXIT_CODE if interrupted else _code(known)


def _code(known: Examination) -> int:
    """Return exit code 0 if the endpoint lists models or responds on a generating route. Return 1 otherwise."""
    from benchwright.endpoint.failures import missing_part_hint

    if known.path is not None or known.outcome("models") != "no_list":
        return 0
    chat = known.findings.get("chat")
    refusal = str(chat.detail.get("refusal", "")) if chat else ""
    detail = f" ({refusal})" if refusal else ""
    say(
        f"Connection failed: there is a server, but none of its routes answers{detail}{missing_part_hint(refusal)}. "
        "Check --model and --base-url."
    )
    return 1
