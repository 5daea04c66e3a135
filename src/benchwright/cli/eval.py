"""`benchwright eval`: a dataset, a model or an agent, and scores; `bench` runs a finished one again."""

from __future__ import annotations

import sys
from typing import Any

import click

from benchwright.cli.cache import command as cache
from benchwright.cli.eval_options import eval_options, evaluate

EXAMPLES = """\b
Examples:
  No code: multiple choice, five repeats per row:
    benchwright eval -d questions.jsonl --scorer mcq --n 5 --model my-model \\
        --base-url http://localhost:8000/v1 --batch-size 32
  Your own agent, scored by your own function:
    benchwright eval -m my_agent:MyAgent -d data.jsonl --eval-fn rewards:score \\
        --model my-model --base-url http://localhost:8000/v1
  Other column names, and an answer found by a pattern:
    benchwright eval -d rows.csv --column prompt=task --column target=gold \\
        --scorer regex --scorer-option pattern='Result: (\\d+)' --model my-model
  Answers judged by another model:
    benchwright eval -d rows.jsonl --scorer judge --scorer-option rubric='Is it polite?' \\
        --judge-model big-model --judge-base-url http://localhost:9000/v1 --model my-model
"""

BENCH_EXAMPLES = """\b
Examples:
  benchwright bench -m my_agent:MyAgent -d data.jsonl --eval-fn rewards:score \\
      --model my-model --base-url http://localhost:8000/v1 --n 10 --batch-size 5
"""


@click.group(
    "eval",
    invoke_without_command=True,
    epilog=EXAMPLES,
    context_settings={"auto_envvar_prefix": "BENCHWRIGHT", "show_default": False},
)
@eval_options
@click.pass_context
def command(context: click.Context, /, as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Evaluate a model or an agent over a dataset.

    Every trial is saved when it ends. If the run is interrupted or killed, the same command resumes it. Once the
    run is finished, the same command shows its result again.
    """
    if context.invoked_subcommand is None:
        sys.exit(evaluate(options, as_json=as_json, quiet=quiet, debug=debug))


command.add_command(cache)


@click.command(
    "bench",
    epilog=BENCH_EXAMPLES,
    context_settings={"auto_envvar_prefix": "BENCHWRIGHT", "show_default": False},
)
@eval_options
def bench(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Benchmark a model or an agent over a dataset: the options of `eval`.

    The same command resumes an interrupted run, and runs a finished one again.
    """
    sys.exit(evaluate(options, as_json=as_json, quiet=quiet, debug=debug, anew=True))
