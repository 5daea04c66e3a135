"""`benchwright pack open`: shows the page of a web pack in a frame in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.access_options import access_options
from benchwright.cli.command_help import Command, option
from benchwright.cli.option_values import make_settings, merge_model_options
from benchwright.cli.options import (
    base_url_option,
    model_options,
    open_browser_option,
    port_option,
    request_limit_options,
)
from benchwright.cli.output import echo, say
from benchwright.cli.pack_options import CONTEXT_SETTINGS, registry_options
from benchwright.endpoint.default_server import DEFAULT_SERVER_HELP
from benchwright.text import make_safe

if TYPE_CHECKING:
    from benchwright.config import PackSettings
    from benchwright.packs.web_history import WebSession
    from benchwright.packs.web_pack import WebPack

EXAMPLES = """\b
Examples:
  benchwright pack open http://127.0.0.1:5177/benchlocal.pack.json \\
      --model my-model --base-url http://localhost:8000/v1
  benchwright pack open ./my-web-pack --model my-model \\
      --base-url http://localhost:8000/v1
"""


@click.command("open", cls=Command, epilog=EXAMPLES, context_settings=CONTEXT_SETTINGS)
@click.argument("pack", metavar="PACK|PATH|URL")
@model_options
@base_url_option(f"looked up in packs.toml, without models there {DEFAULT_SERVER_HELP}")
@access_options
@option(
    "--history", metavar="ID", heading="Pack", help="Show a saved session again, by its id or a part of it."
)
@registry_options
@request_limit_options
@port_option(0)
@open_browser_option
def command(
    pack: str,
    history: str | None,
    registry: str | None,
    compatible_version: str | None,
    port: int,
    open_browser: bool,
    **options: Any,
) -> None:
    """Show the page of PACK, a web pack, in a frame in the browser. Stop it with Ctrl-C.

    PACK is a folder, the address of a manifest, or a name in the registry. The page asks models through a relay: it
    gets no address and no key. It can ask for what its manifest names, and what it saves is kept in a session.
    """
    from benchwright.app.event_loop import run_async
    from benchwright.app.web_packs import find_web_pack
    from benchwright.config import PackSettings

    merge_model_options(options)
    settings = make_settings(PackSettings, {**options, "compatible_version": compatible_version})
    found = find_web_pack(pack, registry, compatible_version)
    _tell(found)
    run_async(_shown(found, settings, history, port, open_browser=open_browser))


async def _shown(
    pack: WebPack, settings: PackSettings, history: str | None, port: int, *, open_browser: bool
) -> None:
    from benchwright.app.web_packs import open_web_pack
    from benchwright.web.framed_pack.server import serve_pack

    async with open_web_pack(pack, settings, history, say) as ready:
        await serve_pack(ready, port, echo, open_browser=open_browser)
    _tell_saved(ready.session)


def _tell(pack: WebPack) -> None:
    say(f"{make_safe(pack.name)} {make_safe(pack.version)}: {make_safe(pack.entry)}")
    say(f"It may ask for: {make_safe(', '.join(pack.permissions)) or 'nothing'}")
    if pack.refused:
        say(f"Not given, as this host does not know it: {make_safe(', '.join(pack.refused))}")
    if pack.declared_receivers:
        say(f"It says that it may send data to: {make_safe(', '.join(pack.declared_receivers))}")


def _tell_saved(session: WebSession) -> None:
    if session.saved is None:
        say("The page saved nothing.")
        return
    score = (session.saved["webHistory"].get("score") or {}).get("totalScore")
    total = f", total {score:g}" if isinstance(score, int | float) else ""
    say(f"Saved: {session.directory} ({session.saved['webHistory']['status']}{total})")
    say(f"Show it again with: --history {session.run_id}")
