"""`benchwright pack run`: packs against models, one pack after the other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.options import (
    concurrency_option,
    config_option,
    json_pairs,
    make_settings,
    model_options,
    output_options,
    run_options,
    set_up_logging,
    take_models,
)

if TYPE_CHECKING:
    from benchwright.config import PackSettings

EXAMPLES = """\b
Examples:
  An installed pack and one in a directory:
    benchwright pack run toolcall-15 ./my-pack --model my-model --base-url http://localhost:8000/v1
  Several models, five attempts at each scenario, everything at once:
    benchwright pack run bugfind-15 --model a --model b --base-url http://localhost:8000/v1 \\
        --n 5 --mode full_parallel
  Retry what failed, only provider errors, or one scenario:
    benchwright pack run toolcall-15 --model my-model --base-url URL --retry-failed
    benchwright pack run toolcall-15 --model my-model --base-url URL --provider-errors
    benchwright pack run toolcall-15 --model my-model --base-url URL --retry-scenario TC-03
"""


@click.command(
    "run", epilog=EXAMPLES, context_settings={"auto_envvar_prefix": "BENCHWRIGHT", "show_default": False}
)
@click.argument("packs", nargs=-1, required=True, metavar="PACK|PATH...")
@config_option("pack")
@model_options
@click.option("--base-url", metavar="URL", help="Base URL of the models (default: looked up in packs.toml).")
@click.option(
    "--api-key",
    metavar="KEY",
    help="API key; EMPTY sends none (default: $BENCHWRIGHT_API_KEY, then $OPENAI_API_KEY).",
)
@click.option("--mode", default="parallel_by_test_case", show_default=True, help="What runs at once: serial, "
              "serial_by_model, parallel_by_test_case, parallel_by_model or full_parallel.")  # fmt: skip
@click.option("--n", type=int, default=1, show_default=True, help="Attempts per scenario.")
@click.option("--scenario", multiple=True, metavar="ID", help="Run only this scenario. Repeatable.")
@click.option("--temperature", type=float, help="Sampling temperature (default: the pack's, else not sent).")
@click.option(
    "--top-p", type=float, help="Nucleus sampling threshold, 0 to 1 (default: the pack's, else not sent)."
)
@click.option(
    "--top-k", type=int, help="Number of tokens to sample from (default: the pack's, else not sent)."
)
@click.option(
    "--min-p", type=float, help="Minimum relative probability (default: the pack's, else not sent)."
)
@click.option(
    "--repetition-penalty", type=float, help="Repetition penalty (default: the pack's, else not sent)."
)
@click.option("--presence-penalty", type=float, help="Presence penalty (default: the pack's, else not sent).")
@click.option(
    "--max-tokens", type=int, help="Maximum tokens per answer (default: the pack's, else not sent)."
)
@click.option("--seed", type=int, help="Sampling seed (default: the pack's, else not sent).")
@click.option("--param", multiple=True, metavar="KEY=JSON", help="Any other generation setting. Repeatable.")
@click.option(
    "--scenario-seconds",
    type=float,
    default=1800.0,
    show_default=True,
    help="Maximum seconds of one attempt.",
)
@click.option("--cell-retries", type=int, default=2, show_default=True,
              help="Retries of an attempt after a temporary provider error.")  # fmt: skip
@click.option(
    "--pack-memory",
    type=int,
    default=4096,
    show_default=True,
    help="Memory limit of the pack's process, in MiB.",
)
@click.option(
    "--direct",
    is_flag=True,
    help="Give the pack the real addresses and keys; its requests are not metered.",
)
@click.option("--keep-verifiers", is_flag=True, help="Leave verifier containers running after the run.")
@click.option(
    "--prepare-seconds",
    type=float,
    default=300.0,
    show_default=True,
    help="Maximum seconds for the pack to prepare.",
)
@click.option(
    "--compatible-version",
    metavar="VERSION",
    help="Version of the desktop host to be compatible with (default: 0.3.0).",
)
@click.option("--node", default="node", show_default=True, help="Node.js program to use.")
@concurrency_option(8)
@run_options
@click.option(
    "--retry-failed", is_flag=True, help="Retry the cells that did not pass in the last matching run."
)
@click.option("--provider-errors", is_flag=True, help="Retry the cells that ended in a provider error.")
@click.option(
    "--retry-scenario", multiple=True, metavar="ID", help="Retry the cells of this scenario. Repeatable."
)
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write all attempts to FILE as CSV.",
)
@click.option(
    "--markdown",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a summary card to FILE as Markdown.",
)
@output_options
def command(
    packs: tuple[str, ...], csv_file: Path | None, markdown: Path | None, as_json: bool, quiet: bool, debug: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Run bench packs against models. Scores come from the pack's own scorer."""
    set_up_logging(debug=debug)
    from benchwright.cli.pack_running import run_packs

    settings = pack_settings(options)
    sys.exit(run_packs(packs, settings, as_json=as_json, quiet=quiet, csv_file=csv_file, markdown=markdown))


def pack_settings(options: dict[str, Any]) -> PackSettings:
    """The settings that the options stand for."""
    from benchwright.config import PackSettings

    options["param"] = json_pairs(options["param"], "--param")
    take_models(options)
    return make_settings(PackSettings, options)
