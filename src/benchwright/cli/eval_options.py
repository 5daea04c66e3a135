"""The options of `eval` and `bench`, and what is done with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from benchwright.cli.options import (
    concurrency_option,
    config_option,
    endpoint_options,
    json_pairs,
    make_settings,
    output_options,
    pairs,
    run_options,
    set_up_logging,
    take_models,
)

if TYPE_CHECKING:
    from benchwright.config import EvalSettings

Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONS: list[Callable[[Any], Any]] = [
    config_option("eval"),
    click.option(
        "-d",
        "--dataset",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Dataset file: .jsonl, .json, .csv or .parquet.",
    ),
    click.option(
        "-m",
        "--module",
        "--agent",
        "module",
        metavar="MODULE:ATTR",
        help="Your agent: a RolloutAgentLoop or a function (default: send each row's prompt to the model).",
    ),
    click.option(
        "--mcp",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Directory of MCP tools, with a main.py that creates a FastMCP instance.",
    ),
    click.option(
        "--agent-command",
        metavar="COMMAND",
        help="Your agent as a program: it reads the row as JSON from stdin, calls the model at $OPENAI_BASE_URL and "
        "prints its answer.",
    ),
    click.option(
        "--eval-fn", multiple=True, metavar="MODULE:FN", help="Score with your own function. Repeatable."
    ),
    click.option(
        "--scorer",
        multiple=True,
        metavar="NAME",
        help="Score with a built-in scorer (exact, numeric, regex, json, mcq, judge), an installed one, or your own as "
        "MODULE:NAME. Repeatable.",
    ),
    click.option(
        "--scorer-option",
        multiple=True,
        metavar="KEY=VALUE",
        help="Set an option of the scorer (pattern, relative, rubric, ...). Repeatable.",
    ),
    click.option(
        "--column",
        multiple=True,
        metavar="PART=NAME",
        help="Column of prompt, target, options or system (default: found by name). Repeatable.",
    ),
    click.option(
        "--system", metavar="TEXT", help="System prompt for every row (default: the row's own, if any)."
    ),
    click.option(
        "--template",
        metavar="TEXT",
        help="Prompt template; {prompt} is replaced by the row's prompt (default: {prompt}).",
    ),
    click.option(
        "--group-by",
        metavar="COLUMN",
        help="Column that groups dependent rows (passage, topic); intervals account for it.",
    ),
    click.option("--n", type=int, default=1, show_default=True, help="Repeats per row, for pass@k."),
    click.option(
        "--pass-threshold",
        type=float,
        default=1.0,
        show_default=True,
        help="Lowest score that counts as a pass.",
    ),
    click.option(
        "--max-turns", type=int, default=10, show_default=True, help="Maximum turns of an agent per trial."
    ),
    click.option(
        "--limit", "--max-samples", "limit", type=int, help="Maximum number of rows (default: all)."
    ),
    click.option("--offset", type=int, default=0, show_default=True, help="Number of rows to skip first."),
    endpoint_options,
    click.option(
        "--baseline-model", metavar="MODEL", help="Second model to run on the same rows and compare with."
    ),
    click.option(
        "--baseline-base-url",
        metavar="URL",
        help="Base URL of the baseline (default: $OPENAI_BASE_URL or OpenAI).",
    ),
    click.option(
        "--baseline-api-key", metavar="KEY", help="API key of the baseline (default: found like --api-key)."
    ),
    click.option(
        "--judge-model",
        metavar="MODEL",
        help="Model that --scorer judge uses (default: the model judges itself).",
    ),
    click.option(
        "--judge-base-url", metavar="URL", help="Base URL of the judge (default: that of the model)."
    ),
    click.option(
        "--judge-api-key-env", metavar="NAME", help="Environment variable that holds the judge's API key."
    ),
    concurrency_option(1),
    run_options,
    click.option("--retry-failed", is_flag=True, help="Retry only the failed trials of an earlier run."),
    click.option("--reuse", is_flag=True, help="Reuse conversations of earlier runs that are still valid."),
    click.option(
        "--rescore", is_flag=True, help="Rescore earlier conversations without sending any request."
    ),
    click.option(
        "--log-samples", is_flag=True, help="Write every conversation to a JSONL file next to the cache file."
    ),
    click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write results to FILE as JSON.",
    ),
    click.option(
        "--output-path",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Write result files to DIR/model/dataset/.",
    ),
    output_options,
]


def eval_options(function: Function) -> Function:
    """All options of an evaluation."""
    for option in reversed(OPTIONS):
        function = option(function)
    return function


def evaluate(options: dict[str, Any], *, as_json: bool, quiet: bool, debug: bool, anew: bool = False) -> int:
    """Runs an evaluation with these options; returns the exit code."""
    set_up_logging(debug=debug)
    from benchwright.cli.eval_running import run_eval

    return run_eval(eval_settings({**options, "debug": debug, "anew": anew}), as_json=as_json, quiet=quiet)


def eval_settings(options: dict[str, Any]) -> EvalSettings:
    """The settings that the options stand for."""
    from benchwright.config import EvalSettings

    take_models(options)
    options["param"] = json_pairs(options["param"], "--param")
    options["column"] = pairs(options["column"], "--column")
    options["scorer_option"] = pairs(options["scorer_option"], "--scorer-option")
    return make_settings(EvalSettings, options)
