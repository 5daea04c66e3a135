"""`benchwright fetch`: downloads the datasets of benchmarks into the data directory."""

from __future__ import annotations

from pathlib import Path

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Command
from benchwright.cli.options import data_directory_option, quiet_option
from benchwright.cli.output import discard_message, say

EXAMPLES = """\b
Examples:
  benchwright fetch mmlu ifeval
  benchwright fetch hle --data-dir /srv/datasets
"""


@click.command("fetch", cls=Command, epilog=EXAMPLES, context_settings={"auto_envvar_prefix": "BENCHWRIGHT"})
@click.argument("benchmarks", nargs=-1, required=True, shell_complete=completions.complete_benchmarks)
@data_directory_option
@quiet_option
def command(benchmarks: tuple[str, ...], data_dir: Path, quiet: bool) -> None:
    """Fetch the datasets of BENCHMARKS: pinned, hashed, and verified on every use."""
    from benchwright.catalog.registry import find_about
    from benchwright.data.fetch import fetch_dataset

    found = [find_about(name) for name in benchmarks]
    for dataset in (dataset for one in found for dataset in (one.dataset, *one.more_data)):
        fetch_dataset(dataset, data_dir, discard_message if quiet else say)
