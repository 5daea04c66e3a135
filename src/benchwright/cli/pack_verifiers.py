"""`benchwright pack verifiers`: shows, starts and stops the verifiers of a pack."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Command
from benchwright.cli.options import json_option, quiet_option
from benchwright.cli.output import echo, print_json, print_table, say
from benchwright.text import make_safe

if TYPE_CHECKING:
    from benchwright.packs.types import VerifierEndpoint
    from benchwright.packs.verifiers import VerifierProgress

EXAMPLES = """\b
Examples:
  benchwright pack verifiers bugfind-15         their state
  benchwright pack verifiers bugfind-15 start   stay up after a run
  benchwright pack verifiers bugfind-15 stop
"""


@click.command("verifiers", cls=Command, epilog=EXAMPLES)
@click.argument("pack", metavar="PACK|PATH", shell_complete=completions.complete_packs)
@click.argument("action", type=click.Choice(["status", "start", "stop"]), default="status")
@json_option
@quiet_option
def command(pack: str, action: str, as_json: bool, quiet: bool) -> None:
    """Show, start or stop the verifiers of PACK. A run starts and stops them itself."""
    from benchwright.app import pack_verifiers
    from benchwright.app.event_loop import run_async

    if action == "stop":
        stopped = run_async(pack_verifiers.stop_verifiers_of_pack(pack))
        if as_json:
            print_json({"stopped": stopped})
        else:
            echo(f"Stopped: {', '.join(stopped)}" if stopped else "No verifier was running.")
        return
    tell = verifier_reporter(quiet=quiet)
    starting = (
        pack_verifiers.start_verifiers(pack, tell)
        if action == "start"
        else pack_verifiers.verifier_states_of_pack(pack)
    )
    found = run_async(starting)
    if as_json:
        print_json({"verifiers": [_plain(endpoint) for endpoint in found]})
    else:
        _print(found)
    if action == "start" and any(endpoint.status != "running" for endpoint in found):
        sys.exit(1)


def _print(found: list[VerifierEndpoint]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("Verifier", "Mode", "State", "Required", "URL", "Image", "Details"):
        table.add_column(name, overflow="fold", no_wrap=name in ("Mode", "State", "Required"))
    for endpoint in found:
        image = {None: "", True: "built", False: "not built"}[endpoint.docker_image_present]
        required = "yes" if endpoint.required else "no"
        cells = (endpoint.id, endpoint.mode, endpoint.status, required, endpoint.url, image, endpoint.details)
        table.add_row(*(make_safe(cell or "") for cell in cells))
    print_table(table)


def _plain(endpoint: VerifierEndpoint) -> dict[str, Any]:
    from benchwright.packs.types import to_json

    return to_json(endpoint)


def verifier_reporter(*, quiet: bool) -> Callable[[VerifierProgress], None]:
    """Return a callback that reports the progress of preparing verifiers. If `quiet`, the callback does nothing."""
    return _say_nothing if quiet else _tell


def _tell(preparing: VerifierProgress) -> None:
    say(f"[{preparing.phase}] {make_safe(preparing.verifier_id)}: {make_safe(preparing.message)}")


def _say_nothing(_: VerifierProgress) -> None:
    """Discard a progress report. It is passed on in place of `_tell` if only the result is wanted."""
