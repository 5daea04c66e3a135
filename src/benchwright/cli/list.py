"""`benchwright list`: the available benchmarks."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.command_help import Command
from benchwright.cli.options import json_option, plugin_option
from benchwright.cli.output import echo, print_json

if TYPE_CHECKING:
    from benchwright.catalog.benchmark import About

EXAMPLES = """\b
Examples:
  llm-bench list
  benchwright list --json
"""


@click.command("list", cls=Command, epilog=EXAMPLES)
@plugin_option
@json_option
def command(plugin: tuple[Path, ...], as_json: bool) -> None:
    """List the benchmarks with tier and description, their variants, and the installed bench packs.

    With --json also their options, sources and licences.
    """
    from benchwright.app.pack_store import installed_packs
    from benchwright.catalog import plugins
    from benchwright.catalog.registry import list_abouts

    known = list(list_abouts())
    gc.freeze()  # as in `main`
    entries = sorted(
        [*known, *(one.about for one in plugins.find_all_plugins(plugin))], key=lambda one: one.full_name
    )
    if as_json:
        from benchwright.cli.pack_install import pack_to_dict

        listed: dict[str, Any] = {"benchmarks": [_plain(entry) for entry in entries]}
        if packs := installed_packs():
            listed["packs"] = [pack_to_dict(pack) for pack in packs]
        print_json(listed)
        return
    from benchwright.reports.boxed_tables import render_box

    for title, listed_here in _tables(entries):
        rows = [(entry.full_name, str(entry.tier), entry.description) for entry in listed_here]
        echo(render_box(title, ("Name", "Tier", "Description"), rows, centred=(1,)))
    if packs := installed_packs():
        from benchwright.cli.pack_install import packs_table

        echo(packs_table(packs))


def _tables(entries: list[About]) -> Iterator[tuple[str, list[About]]]:
    """Yield (title, benchmarks) for each table.

    There are three tables. The first has the documented benchmarks and the user's own, the second has the benchmarks
    added later, and the third has the variants of all of these.
    """
    from benchwright.catalog.registry import ADDED_BENCHMARKS

    plain = [entry for entry in entries if entry.variant is None]
    yield "Available Benchmarks", [entry for entry in plain if entry.name not in ADDED_BENCHMARKS]
    yield "Further Benchmarks", [entry for entry in plain if entry.name in ADDED_BENCHMARKS]
    yield "Variants", [entry for entry in entries if entry.variant is not None]


def _plain(entry: About) -> dict[str, Any]:
    from benchwright.catalog.registry import known_options

    return {
        "name": entry.full_name,
        "tier": entry.tier,
        "description": entry.description,
        "title": entry.title,
        "items": entry.items,
        "licence": entry.licence,
        "gated": entry.gated,
        "protocol": entry.protocol,
        "protocol_version": entry.version,
        "departures": list(entry.departures),
        "source": entry.source,
        "metric": entry.metric,
        "max_tokens": entry.max_tokens,
        "temperature": entry.temperature,
        "params": dict(entry.params),
        "repeats": entry.repeats,
        "cluster": entry.cluster,
        "roles": list(entry.roles),
        "needs": list(entry.needs),
        "options": known_options(entry),
    }
