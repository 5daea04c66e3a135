"""`benchwright replay RUN`: replays a pack's run event by event, in the terminal or in the browser.

No model is asked.
"""

from __future__ import annotations

import time
from pathlib import Path

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Command, option
from benchwright.cli.options import host_option, open_browser_option, port_option
from benchwright.cli.output import echo, say

EXAMPLES = """\b
Examples:
  benchwright replay 20261121T10
  benchwright replay 20261121T10 --scenario A-01 --pause 1
  benchwright replay 20261121T10 --browser
"""


@click.command("replay", cls=Command, epilog=EXAMPLES)
@click.argument("run", shell_complete=completions.complete_runs)
@option("--scenario", multiple=True, metavar="ID", help="Only events of this scenario. Repeatable.")
@option("--pause", type=click.FloatRange(min=0), default=0.0, metavar="SECONDS",
        help="Seconds between two events.")  # fmt: skip
@option("--browser", is_flag=True, heading="Browser",
        help="Play the run in the browser, with its matrix, instead.")  # fmt: skip
@host_option
@port_option(7345)
@open_browser_option
def command(
    run: str, scenario: tuple[str, ...], pause: float, browser: bool, host: str, port: int, open_browser: bool
) -> None:
    """Show RUN, a run of a pack, once more, event by event, in the order in which things happened.

    The protocol's events have no times, so that pauses are not those of the run. Nothing is asked again.
    """
    from benchwright.errors import UserError
    from benchwright.runs.manifest import read_manifest
    from benchwright.runs.store import find_run

    if browser and (scenario or pause):
        raise click.UsageError(
            "--scenario and --pause are for the terminal; the page has controls of its own."
        )
    directory = find_run(run)
    if read_manifest(directory).kind != "pack":
        raise UserError(
            f"{directory.name} is not a run of a pack: only these have events. "
            f"See it with: benchwright show {directory.name}"
        )
    if browser:
        _play(run, host, port, open_browser=open_browser)
    else:
        _print(directory, scenario, pause)


def _print(directory: Path, scenarios: tuple[str, ...], pause: float) -> None:
    from benchwright.analysis.pack_runs import models_of
    from benchwright.errors import UserError
    from benchwright.packs.run_files import read_events
    from benchwright.reports.pack_replay import event_line
    from benchwright.runs.manifest import read_manifest

    labels = {model.id: model.label for model in models_of(read_manifest(directory)).values()}
    events = [one for one in read_events(directory) if not scenarios or one.get("scenarioId") in scenarios]
    if not events:
        raise UserError(f"{directory.name} has no such events.")
    for event in events:
        echo(event_line(event, labels))
        if pause:
            time.sleep(pause)


def _play(run: str, host: str, port: int, *, open_browser: bool) -> None:
    from benchwright.app.event_loop import run_async
    from benchwright.cli.view import find_stored_run
    from benchwright.web.server import serve_viewer

    run_async(serve_viewer(host, port, echo, say, open_browser=open_browser, replay=find_stored_run(run)))
