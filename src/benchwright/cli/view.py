"""`benchwright view`: serves web pages to watch, read and compare runs."""

from __future__ import annotations

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Command, option
from benchwright.cli.options import host_option, open_browser_option, port_option
from benchwright.cli.output import echo, say
from benchwright.cli.table import suite_name_of
from benchwright.errors import UserError
from benchwright.home import runs_directory
from benchwright.user_paths import expand_user_path

EXAMPLES = """\b
Examples:
  benchwright view                  all runs of this machine, in the browser
  benchwright view 20261121T10      the page of a run
  benchwright view load-20261122T18 what a server gave under load
  benchwright view old.eval         of another program's results
  benchwright view --suite nightly  the table of a suite
  benchwright view --port 8080 --no-open
"""


@click.command("view", cls=Command, epilog=EXAMPLES)
@click.argument("run", metavar="[RUN|LOAD]", required=False, shell_complete=completions.complete_runs)
@host_option
@port_option(7345)
@open_browser_option
@option("--suite", metavar="NAME|FILE", heading="Server", shell_complete=completions.complete_suites,
        help="Open the table of this suite.")  # fmt: skip
def command(run: str | None, host: str, port: int, open_browser: bool, suite: str | None) -> None:
    """Serve a web page with the runs on this machine. Stop it with Ctrl-C.

    Open the printed address: anyone who has it can read all runs and start new ones. If RUN is an id, a unique part of
    an id, or the path of another program's results, the address leads to the page of that run. If RUN is the tag of a
    measurement (load-…) or the beginning of a tag, the address leads to the page of that measurement.
    """
    from benchwright.analysis.load.comparison.references import LOAD_TAG_PREFIX, find_tag
    from benchwright.app.event_loop import run_async
    from benchwright.web.server import serve_viewer

    if run is not None and suite is not None:
        raise click.UsageError("Give RUN or --suite, not both.")
    name = None if suite is None else suite_name_of(suite)
    load = (
        find_tag(run)
        if run is not None and run.startswith(LOAD_TAG_PREFIX) and not expand_user_path(run).exists()
        else None
    )
    shown = None if run is None or load is not None else find_stored_run(run)
    run_async(
        serve_viewer(host, port, echo, say, open_browser=open_browser, suite=name, run=shown, load=load)
    )


def find_stored_run(reference: str) -> str:
    """Return the id of the run that `reference` names, if the run is in the store of the viewer.

    Raises:
        UserError: If the run is not in the run store of this machine, or a newer version wrote it.
    """
    from benchwright.interop.result_formats import find_or_import_run
    from benchwright.runs.manifest import check_run_format

    directory = find_or_import_run(reference).resolve()
    if directory.parent != runs_directory().resolve():
        raise UserError(
            f"{directory} is not among the runs of this machine: set BENCHWRIGHT_HOME to the home it is in."
        )
    check_run_format(directory)
    return directory.name
