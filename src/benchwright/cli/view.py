"""`benchwright view`: watch, read and compare runs in the browser."""

from __future__ import annotations

import click

from benchwright.cli.output import echo, say
from benchwright.cli.table import found_suite

EXAMPLES = """\b
Examples:
  benchwright view                  all runs of this machine, in the browser
  benchwright view --suite nightly  the table of a suite
  benchwright view --port 8080 --no-open
"""


@click.command("view", epilog=EXAMPLES)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=7345,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@click.option(
    "--open/--no-open",
    "open_browser",
    default=True,
    help="Whether to open a browser (default: yes, if there is one).",
)
@click.option("--suite", metavar="NAME|FILE", help="Open the table of this suite.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def command(host: str, port: int, open_browser: bool, suite: str | None, debug: bool) -> None:
    """Serve a web page with the runs on this machine. Stop it with Ctrl-C.

    Open the printed address: anyone who has it can read all runs and start new ones.
    """
    from benchwright.app.loop import run_async
    from benchwright.cli.options import set_up_logging
    from benchwright.web.server import serve

    set_up_logging(debug=debug)
    name = None if suite is None else found_suite(suite)
    run_async(serve(host, port, echo, say, open_browser=open_browser, suite=name))
