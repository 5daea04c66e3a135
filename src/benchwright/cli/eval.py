"""`benchwright eval`: a dataset, a model or an agent, and scores."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from benchwright.cli.cache import command as cache
from benchwright.cli.options import (
    config_option,
    endpoint_options,
    json_pairs,
    output_options,
    pairs,
    run_options,
    say,
    set_up_logging,
)

EXAMPLES = """\b
Examples:
  No code at all; multiple choice, five trials per row:
    benchwright eval -d questions.jsonl --scorer mcq --n 5 --model my-model \\
        --base-url http://localhost:8000/v1 --batch-size 32
  An agent of your own, scored by a function of your own:
    benchwright eval -m my_agent:MyAgent -d data.jsonl --eval-fn rewards:score \\
        --model my-model --base-url http://localhost:8000/v1
  Other column names, and an answer found by a pattern:
    benchwright eval -d rows.csv --column prompt=task --column target=gold \\
        --scorer regex --scorer-option pattern='Result: (\\d+)' --model my-model
  Answers judged by another model:
    benchwright eval -d rows.jsonl --scorer judge --scorer-option rubric='Is it polite?' \\
        --judge-model big-model --judge-base-url http://localhost:9000/v1 --model my-model
"""


@click.group(
    "eval",
    invoke_without_command=True,
    epilog=EXAMPLES,
    context_settings={"auto_envvar_prefix": "BENCHWRIGHT", "show_default": False},
)
@config_option("eval")
@click.option(
    "-d",
    "--dataset",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Dataset: .jsonl, .json, .csv or .parquet.",
)
@click.option(
    "-m",
    "--module",
    "--agent",
    "module",
    metavar="MODULE:ATTR",
    help="Your agent (a RolloutAgentLoop). Without it the model is asked each row's prompt.",
)
@click.option("--eval-fn", multiple=True, metavar="MODULE:FN", help="Your eval function. Repeatable.")
@click.option(
    "--scorer",
    multiple=True,
    metavar="NAME",
    help="Built-in scorer: exact, numeric, regex, json, mcq, judge. Repeatable.",
)
@click.option(
    "--scorer-option",
    multiple=True,
    metavar="KEY=VALUE",
    help="Option of the scorer (pattern, tolerance, rubric, ...).",
)
@click.option(
    "--column",
    multiple=True,
    metavar="PART=NAME",
    help="Column for prompt, target, options or system, where its name does not tell.",
)
@click.option("--system", metavar="TEXT", help="System prompt for every row.")
@click.option("--template", metavar="TEXT", help="Text around every prompt, which replaces {prompt} in it.")
@click.option(
    "--group-by", metavar="COLUMN", help="Rows that belong together (passage, topic): intervals respect it."
)
@click.option("--n", type=int, default=1, show_default=True, help="Trials per row, for pass@k.")
@click.option(
    "--pass-threshold", type=float, default=1.0, show_default=True, help="A score from here on is a pass."
)
@click.option(
    "--max-turns", type=int, default=10, show_default=True, help="Most turns of an agent per trial."
)
@click.option("--limit", "--max-samples", "limit", type=int, help="At most this many rows.")
@click.option("--offset", type=int, default=0, show_default=True, help="Rows to skip first.")
@endpoint_options
@click.option("--baseline-model", metavar="MODEL", help="A second model to compare with, on the same rows.")
@click.option("--baseline-base-url", metavar="URL", help="Where the baseline is.")
@click.option("--baseline-api-key", metavar="KEY", help="Key for the baseline.")
@click.option("--judge-model", metavar="MODEL", help="The judge of --scorer judge.")
@click.option("--judge-base-url", metavar="URL", help="Where the judge is; by default where the model is.")
@click.option("--judge-api-key-env", metavar="NAME", help="Environment variable with the judge's key.")
@run_options
@click.option("--retry-failed", is_flag=True, help="Try only the failed trials of an earlier run again.")
@click.option("--reuse", is_flag=True, help="Take over conversations of earlier runs that are still valid.")
@click.option("--rescore", is_flag=True, help="Score earlier conversations anew; ask no model.")
@click.option(
    "--log-samples", is_flag=True, help="Write every conversation to a JSONL file beside the cache."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write results as JSON."
)
@click.option(
    "--output-path",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write results to DIR/model/dataset/.",
)
@output_options
@click.pass_context
def command(context: click.Context, /, as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Evaluate a model or an agent over a dataset.

    Every trial is journalled as it ends. Interrupt the run, or kill it: the same command goes on where it
    stopped, and shows the result again once it is finished.
    """
    if context.invoked_subcommand is not None:
        return
    from benchwright.app.endpoints import load_dotenv
    from benchwright.app.evaluate import prepare_eval

    set_up_logging(debug=debug)
    load_dotenv()
    options["param"] = json_pairs(options["param"], "--param")
    options["column"] = pairs(options["column"], "--column")
    options["scorer_option"] = pairs(options["scorer_option"], "--scorer-option")
    run = prepare_eval(_settings(options), say)
    from benchwright.cli.running import run_and_report

    sys.exit(run_and_report(run, as_json=as_json, quiet=quiet))


command.add_command(cache)


def _settings(options: dict[str, Any]) -> Any:
    from pydantic import ValidationError

    from benchwright.config import EvalSettings

    try:
        return EvalSettings(**options)
    except ValidationError as error:
        first = error.errors()[0]
        name = "--" + str(first["loc"][0]).replace("_", "-")
        raise click.UsageError(f"{name}: {first['msg']}.") from None
