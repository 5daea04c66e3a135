"""`benchwright pack search`: packs in the registry, compared with the installed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.command_help import Command
from benchwright.cli.options import json_option
from benchwright.cli.output import echo, print_json, say
from benchwright.cli.pack_options import CONTEXT_SETTINGS, registry_options
from benchwright.text import make_safe

if TYPE_CHECKING:
    from benchwright.app.pack_registry import RegistryOffer

EXAMPLES = """\b
Examples:
  benchwright pack search
  benchwright pack search tool calls
  benchwright pack search --json
"""


@click.command("search", cls=Command, epilog=EXAMPLES, context_settings=CONTEXT_SETTINGS)
@click.argument("words", nargs=-1, metavar="[WORD]...")
@registry_options
@json_option
def search(
    words: tuple[str, ...], registry: str | None, compatible_version: str | None, as_json: bool
) -> None:
    """Search the registry for packs that have all WORDs in their id, name, author or description."""
    print_registry_packs(registry, compatible_version, words, as_json=as_json)


def print_registry_packs(
    registry: str | None, compatible_version: str | None, words: Sequence[str] = (), *, as_json: bool
) -> None:
    """Print the registry's packs that contain all these words, with the installed version of each."""
    from benchwright.app.pack_registry import search_registry
    from benchwright.app.pack_store import install_settings

    settings = install_settings(registry, None, compatible_version)
    found = search_registry(settings, words)
    if as_json:
        print_json({"registry": settings.registry, "packs": [_plain(offer) for offer in found]})
        return
    if not found:
        say(f"The registry has no such pack: {make_safe(settings.registry)}.")
        return
    echo(registry_packs_table(found))
    if any(offer.state == "update" for offer in found):
        say("Update with: benchwright pack update --all")


def registry_packs_table(found: Sequence[RegistryOffer]) -> str:
    """Return a table of packs in the registry.

    Below are their descriptions, and the reasons why some cannot be installed.
    """
    from benchwright.reports.boxed_tables import render_box

    columns = ("Id", "Version", "Installed", "State", "Scenarios")
    rows = [
        [one.entry.id, one.entry.version, one.installed or "", one.state, str(_scenarios(one) or "")]
        for one in found
    ]
    about = [
        make_safe(f"{one.entry.id}: {text}")
        for one in found
        for text in (one.entry.optional_text("description"), _why_not(one))
        if text
    ]
    return "\n".join([render_box("Bench packs in the registry", columns, rows, centred=(4,)), *about])


def _why_not(offer: RegistryOffer) -> str | None:
    """Return the reason why a pack cannot be installed here. None if the pack can be installed."""
    if offer.entry.page_url is not None:
        return f"a web pack, the page {offer.entry.page_url}; show it with: benchwright pack open {offer.entry.id}"
    return offer.entry.problem


def _scenarios(offer: RegistryOffer) -> int | None:
    count = offer.entry.raw.get("scenarioCount")
    return count if isinstance(count, int) and not isinstance(count, bool) else None


def _plain(offer: RegistryOffer) -> dict[str, Any]:
    entry = offer.entry
    return {
        "id": entry.id,
        "name": entry.name,
        "version": entry.version,
        "installed": offer.installed,
        "state": offer.state,
        "problem": entry.problem,
        "page": entry.page_url,
        "scenarios": _scenarios(offer),
        **{name: entry.optional_text(name) for name in ("author", "description", "homepage", "license")},
    }
