"""`benchwright doctor`: what works on this machine, what is missing, and what to do."""

from __future__ import annotations

import sys

import click

from benchwright.cli.command_help import Command, option
from benchwright.cli.options import json_option
from benchwright.cli.output import print_json, print_table

EXAMPLES = """\b
Examples:
  benchwright doctor
  benchwright doctor --network
"""


@click.command("doctor", cls=Command, epilog=EXAMPLES, context_settings={"auto_envvar_prefix": "BENCHWRIGHT"})
@option("--network", is_flag=True, help="Also check that images can be pulled, by pulling a small one.")
@json_option
def command(network: bool, as_json: bool) -> None:
    """Check this machine: what works, what is missing and what for, and what is broken.

    Nothing is changed, and the network is not used unless --network is given. Exits with 1 if something is broken,
    and with 0 if something is only missing.
    """
    from benchwright.app.doctor import examine_machine
    from benchwright.reports.doctor import Finding, render_findings

    findings = examine_machine(call_out=network)
    broken = any(finding.state == "problem" for finding in findings)
    if as_json:
        print_json({"broken": broken, "findings": findings})
    else:
        lines = [
            Finding(one.state, one.subject, one.said, one.needed_for, one.what_to_do) for one in findings
        ]
        print_table(render_findings(lines))
    sys.exit(1 if broken else 0)
