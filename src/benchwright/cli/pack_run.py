"""`benchwright pack run`: runs packs against models, one pack after another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from benchwright.cli import completions
from benchwright.cli.access_options import access_options
from benchwright.cli.command_help import Command, combine_options, option
from benchwright.cli.config_file import config_option
from benchwright.cli.option_settings import pack_settings
from benchwright.cli.options import (
    base_url_option,
    concurrency_option,
    host_version_option,
    markdown_option,
    model_options,
    node_option,
    output_options,
    provider_errors_option,
    repeats_option,
    run_options,
    sampling_options,
    until_options,
)
from benchwright.endpoint.default_server import DEFAULT_SERVER_HELP

EXAMPLES = """\b
Examples:
  An installed pack and one in a directory:
    benchwright pack run toolcall-15 ./my-pack --model my-model \\
        --base-url http://localhost:8000/v1
"""

MORE_EXAMPLES = """\b
  Several models, five attempts at each scenario, everything at once:
    benchwright pack run bugfind-15 --model a --model b --n 5 \\
        --mode full_parallel --base-url http://localhost:8000/v1
  Retry what failed, only provider errors, or one scenario:
    benchwright pack run toolcall-15 --model my-model --retry-failed
    benchwright pack run toolcall-15 --model my-model --provider-errors
    benchwright pack run toolcall-15 --model my-model --retry-scenario TC-03
"""


generation_options = combine_options(
    sampling_options("the pack's, else not sent"),
    option("--top-p", type=float, metavar="P", heading="Model", rare=True,
           help="Nucleus sampling threshold, 0 to 1 (default: the pack's, else not sent)."),
    option("--top-k", type=int, metavar="TOKENS", heading="Model", rare=True,
           help="Number of tokens to sample from (default: the pack's, else not sent)."),
    option("--min-p", type=float, metavar="P", heading="Model", rare=True,
           help="Minimum relative probability (default: the pack's, else not sent)."),
    option("--repetition-penalty", type=float, metavar="PENALTY", heading="Model", rare=True,
           help="Repetition penalty (default: the pack's, else not sent)."),
    option("--presence-penalty", type=float, metavar="PENALTY", heading="Model", rare=True,
           help="Presence penalty (default: the pack's, else not sent)."),
)  # fmt: skip

cell_options = combine_options(
    option("--scenario-seconds", type=float, metavar="SECONDS", heading="Limits", rare=True,
           help="Maximum seconds of one attempt (default: the pack's request_timeout_seconds, else 1800)."),
    option("--prepare-seconds", type=float, metavar="SECONDS", default=300.0, heading="Limits", rare=True,
           help="Maximum seconds for the pack to prepare."),
    option("--cell-retries", type=int, metavar="N", default=2, heading="Limits", rare=True,
           help="Retries of an attempt after a temporary provider error."),
    option("--pack-memory", type=int, metavar="MIB", default=4096, heading="Limits", rare=True,
           help="Memory limit of the pack's process, in MiB."),
    option("--direct", is_flag=True, heading="Pack", rare=True,
           help="Give the pack the real addresses and keys; its requests are not metered."),
    option("--keep-verifiers", is_flag=True, heading="Pack", rare=True,
           help="Leave verifier containers running after the run."),
    host_version_option,
    node_option,
)  # fmt: skip
"""Options that limit a pack's process or one attempt at a scenario, or that change how these run."""


@click.command(
    "run",
    cls=Command,
    epilog=EXAMPLES,
    more=MORE_EXAMPLES,
    context_settings={"auto_envvar_prefix": "BENCHWRIGHT"},
)
@click.argument(
    "packs", nargs=-1, required=True, metavar="PACK|PATH...", shell_complete=completions.complete_packs
)
@option("--scenario", multiple=True, metavar="ID", heading="Pack", help="Run only this scenario. Repeatable.")
@repeats_option
@model_options
@base_url_option(f"looked up in packs.toml, without models there {DEFAULT_SERVER_HELP}")
@access_options
@generation_options
@until_options
@config_option("pack")
@concurrency_option(8)
@option(
    "--mode",
    metavar="MODE",
    heading="Running",
    rare=True,
    help="What runs at once: serial, serial_by_model, parallel_by_test_case, parallel_by_model or full_parallel "
    "(default: parallel_by_test_case, for one model parallel_by_model).",
)
@run_options
@provider_errors_option
@option(
    "--retry-scenario",
    multiple=True,
    metavar="ID",
    heading="Running",
    rare=True,
    help="Retry the cells of this scenario. Repeatable.",
)
@cell_options
@option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    heading="Output",
    rare=True,
    help="Write all attempts to FILE as CSV.",
)
@markdown_option
@output_options
def command(
    packs: tuple[str, ...], csv_file: Path | None, markdown: Path | None, as_json: bool, quiet: bool, debug: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Run bench packs against models. Scores come from the pack's own scorer."""
    from benchwright.cli.pack_running import run_packs
    from benchwright.cli.unused_options import refuse_unused_options

    settings = pack_settings(options)
    refuse_unused_options([settings])
    sys.exit(run_packs(packs, settings, as_json=as_json, quiet=quiet, csv_file=csv_file, markdown=markdown))
