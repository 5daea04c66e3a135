"""The options of `eval` and `bench`, and their conversion to settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from benchwright.cli.access_options import access_options, header_option
from benchwright.cli.agent_options import agent_command_option, agent_options, recipe_option
from benchwright.cli.command_help import combine_options, option
from benchwright.cli.config_file import config_option
from benchwright.cli.option_settings import eval_settings
from benchwright.cli.options import (
    DEFAULT_ENDPOINT_HELP,
    base_url_option,
    concurrency_option,
    dataset_option,
    limit_option,
    model_options,
    offset_option,
    output_options,
    repeats_option,
    results_option,
    row_options,
    run_options,
    sampling_options,
    until_options,
)
from benchwright.cli.scoring_options import judge_labels_option, judge_options, scorer_options
from benchwright.cli.thinking_options import thinking_options

group_option = option(
    "--group-by", metavar="COLUMN", heading="Dataset", rare=True,
    help="Column that groups dependent rows (passage, topic); intervals account for it.",
)  # fmt: skip

eval_fn_options = combine_options(
    option("--eval-fn", multiple=True, metavar="MODULE:FN", heading="Scoring",
           help="Score with your own function. Repeatable."),
    option("--pass-threshold", type=float, metavar="SCORE", default=1.0, heading="Scoring", rare=True,
           help="Lowest score that counts as a pass."),
)  # fmt: skip

baseline_options = combine_options(
    option("--baseline-model", metavar="MODEL", heading="Baseline", rare=True,
           help="Second model to run on the same rows and compare with."),
    option("--baseline-base-url", metavar="URL", heading="Baseline", rare=True,
           help=f"Base URL of the baseline (default: {DEFAULT_ENDPOINT_HELP})."),
    option("--baseline-api-key", metavar="KEY", heading="Baseline", rare=True,
           help="API key of the baseline (default: found like --api-key)."),
    header_option("baseline", "of the baseline's requests", "Baseline"),
)  # fmt: skip

reuse_options = combine_options(
    option("--reuse", is_flag=True, heading="Running", rare=True,
           help="Reuse conversations of earlier runs that are still valid."),
    option("--rescore", is_flag=True, heading="Running", rare=True,
           help="Rescore earlier conversations without sending any request."),
)  # fmt: skip

output_file_options = combine_options(
    results_option,
    option("--output-dir", "output_path", old=("--output-path",), type=click.Path(path_type=Path), metavar="DIR",
           heading="Output", rare=True,
           help="Directory of result files (default: none; as DIR/model/dataset/)."),
    option("--log-samples", is_flag=True, heading="Output", rare=True,
           help="Write every conversation to a JSONL file next to the cache file."),
)  # fmt: skip

eval_options = combine_options(
    dataset_option, limit_option(), offset_option, repeats_option, row_options, group_option,
    model_options, base_url_option(DEFAULT_ENDPOINT_HELP), access_options, sampling_options("not sent"),
    thinking_options,
    agent_options(), recipe_option, agent_command_option,
    scorer_options, judge_options, judge_labels_option, eval_fn_options, baseline_options, until_options,
    config_option("eval"), concurrency_option(1), run_options, reuse_options,
    output_file_options, output_options,
)  # fmt: skip
"""All options of an evaluation."""


def evaluate(options: dict[str, Any], *, as_json: bool, quiet: bool, debug: bool, anew: bool = False) -> int:
    """Run an evaluation with these options. Return the exit code.

    `anew`: True to run a finished evaluation again.
    """
    from benchwright.cli.eval_running import run_eval
    from benchwright.cli.unused_options import refuse_unused_options

    options |= {"debug": debug, "anew": anew}
    if len(options["agent"]) > 1:
        from benchwright.cli.agent_suites import eval_with_agents

        return eval_with_agents(options, eval_settings, as_json=as_json, quiet=quiet)
    settings = eval_settings(options)
    refuse_unused_options([settings])
    return run_eval(settings, as_json=as_json, quiet=quiet)
