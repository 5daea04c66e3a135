"""`benchwright pack replay RUN`: a run of a pack once more, event by event."""

from __future__ import annotations

import time

import click

from benchwright.cli import completing
from benchwright.cli.grammar import Command, option
from benchwright.cli.output import echo

EXAMPLES = """\b
Examples:
  benchwright pack replay 20261121T10
  benchwright pack replay 20261121T10 --scenario A-01 --pause 1
"""


@click.command("replay", cls=Command, epilog=EXAMPLES)
@click.argument("run", shell_complete=completing.runs)
@option("--scenario", multiple=True, metavar="ID", help="Only events of this scenario. Repeatable.")
@option("--pause", type=float, default=0.0, metavar="SECONDS", help="Seconds between two events.")
def command(run: str, scenario: tuple[str, ...], pause: float) -> None:
    """Show RUN, a run of a pack, once more, event by event, in the order in which things happened.

    The protocol's events have no times, so that pauses are not those of the run. Nothing is asked again.
    """
    from benchwright.analysis.pack_runs import models_of
    from benchwright.errors import UserError
    from benchwright.packs.run_files import read_events
    from benchwright.reports.pack_replay import event_line
    from benchwright.runs.manifest import read_manifest
    from benchwright.runs.store import find_run

    directory = find_run(run)
    manifest = read_manifest(directory)
    if manifest.kind != "pack":
        raise UserError(f"{manifest.id} is not a run of a pack.")
    labels = {model.id: model.label for model in models_of(manifest).values()}
    events = [one for one in read_events(directory) if not scenario or one.get("scenarioId") in scenario]
    if not events:
        raise UserError(f"{manifest.id} has no such events.")
    for event in events:
        echo(event_line(event, labels))
        if pause:
            time.sleep(pause)
