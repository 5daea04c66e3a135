"""`benchwright fetch`: the datasets of benchmarks, into the data directory."""

from __future__ import annotations

from pathlib import Path

import click

from benchwright.cli.options import data_option
from benchwright.cli.output import say

EXAMPLES = """\b
Examples:
  benchwright fetch mmlu ifeval
  benchwright fetch hle --data-dir /srv/datasets
"""


@click.command("fetch", epilog=EXAMPLES, context_settings={"auto_envvar_prefix": "BENCHWRIGHT"})
@click.argument("benchmarks", nargs=-1, required=True)
@data_option
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def command(benchmarks: tuple[str, ...], data_dir: Path, debug: bool) -> None:
    """Fetch the datasets of BENCHMARKS: pinned, hashed, and verified on every use."""
    from benchwright.catalog.registry import about
    from benchwright.data.fetch import fetch

    found = [about(name) for name in benchmarks]
    for dataset in (dataset for one in found for dataset in (one.dataset, *one.more_data)):
        fetch(dataset, data_dir, say)
