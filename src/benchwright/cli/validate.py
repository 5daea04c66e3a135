"""`benchwright validate`: checks that gold answers score 1, and wrong ones do not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import click

from benchwright.cli import command_help, completions
from benchwright.cli.option_values import parse_pairs, parse_repeated_pairs
from benchwright.cli.options import (
    benchmark_setting_option,
    data_directory_option,
    json_option,
    keep_images_option,
    limit_option,
    sample_selection_options,
    seal_option,
)
from benchwright.cli.output import print_json, print_table, say

EXAMPLES = """\b
Examples:
  benchwright validate
  benchwright validate mmlu ifeval --limit 100 --data-dir /srv/datasets
  benchwright validate swe_bench --where 'id=django__*' --limit 3
  benchwright validate terminal_bench --exploits --limit 2
"""


@click.command(
    "validate",
    cls=command_help.Command,
    epilog=EXAMPLES,
    context_settings={"auto_envvar_prefix": "BENCHWRIGHT"},
)
@click.argument("benchmarks", nargs=-1, shell_complete=completions.complete_benchmarks)
@data_directory_option
@limit_option("max_samples", type=click.IntRange(min=1))
@sample_selection_options
@benchmark_setting_option
@keep_images_option
@seal_option
@command_help.option("--exploits", is_flag=True, heading="Running",
        help="Try the seal: play agents that solve nothing and try to pass.")  # fmt: skip
@json_option
def command(
    benchmarks: tuple[str, ...],
    data_dir: Path,
    max_samples: int | None,
    where: tuple[str, ...],
    ids: Path | None,
    option: tuple[str, ...],
    keep_images: Literal["none", "base", "all"] | None,
    seal: bool,
    exploits: bool,
    as_json: bool,
) -> None:
    """Run gold and wrong answers through a benchmark's own prompt, solver and grader.

    No request is sent. Without BENCHMARKS, all benchmarks with data on this machine are validated. Exits with 1 if
    a gold answer does not score 1, or a wrong one does; with --exploits, if one passes without a flag.
    """
    from benchwright.app.benchmark_validation import validate_benchmarks
    from benchwright.app.event_loop import run_async
    from benchwright.catalog.benchmark import Options
    from benchwright.catalog.selection import Selection, read_ids
    from benchwright.reports.validation import render_validation

    if (where or ids) and not benchmarks:
        raise click.UsageError("--where and --ids choose samples of benchmarks: name those.")
    if exploits and not benchmarks:
        raise click.UsageError("--exploits needs the names of benchmarks whose agents are sealed.")
    chosen = () if ids is None else read_ids(ids)
    selection = Selection(max_samples, parse_repeated_pairs(where, "--where"), ids=chosen)
    given = parse_pairs(option, "--option")
    roles = frozenset(name.removesuffix("_model") for name in given if name.endswith("_model"))
    options = Options(given, roles, data_dir, seal)
    validating = validate_benchmarks(benchmarks, options, selection, keep_images, say, exploits=exploits)
    outcome = run_async(validating)
    if as_json:
        print_json(outcome)
    else:
        print_table(render_validation(outcome.validated, outcome.left_out))
    sys.exit(1 if any(entry.failures for entry in outcome.validated) else 0)
