"""`benchwright view`: watch, read and compare runs in the browser."""

from __future__ import annotations

import click

from benchwright.cli import completing
from benchwright.cli.grammar import Command, option
from benchwright.cli.options import host_option, port_option
from benchwright.cli.output import echo, say
from benchwright.cli.table import found_suite

EXAMPLES = """\b
Examples:
  benchwright view                  all runs of this machine, in the browser
  benchwright view --suite nightly  the table of a suite
  benchwright view --port 8080 --no-open
"""


@click.command("view", cls=Command, epilog=EXAMPLES)
@host_option
@port_option(7345)
@option(
    "--open/--no-open",
    "open_browser",
    default=True,
    heading="Server",
    help="Open a browser, or not (default: yes, if there is one).",
)
@option("--suite", metavar="NAME|FILE", heading="Server", shell_complete=completing.suites,
        help="Open the table of this suite.")  # fmt: skip
def command(host: str, port: int, open_browser: bool, suite: str | None) -> None:
    """Serve a web page with the runs on this machine. Stop it with Ctrl-C.

    Open the printed address: anyone who has it can read all runs and start new ones.
    """
    from benchwright.app.loop import run_async
    from benchwright.web.server import serve

    name = None if suite is None else found_suite(suite)
    run_async(serve(host, port, echo, say, open_browser=open_browser, suite=name))
