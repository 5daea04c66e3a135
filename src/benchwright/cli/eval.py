"""`benchwright eval`: evaluates a model or an agent over a dataset.

`bench` does the same, but runs a finished evaluation again.
"""

from __future__ import annotations

import sys
from copy import copy
from typing import Any

import click

from benchwright.cli.cache import command as cache
from benchwright.cli.command_help import Command, Group
from benchwright.cli.eval_options import eval_options, evaluate

EXAMPLES = """\b
Examples:
  No code: multiple choice, five repeats of each row:
    benchwright eval -d questions.jsonl --scorer mcq --n 5 \\
        --model my-model --base-url http://localhost:8000/v1
  Your own agent, scored by your own function:
    benchwright eval -m my_agent:MyAgent -d data.jsonl \\
        --eval-fn rewards:score --model my-model
"""

MORE_EXAMPLES = """\b
  Other column names, and an answer found by a pattern:
    benchwright eval -d rows.csv --column prompt=task --column target=gold \\
        --scorer regex --scorer-option pattern='Result: (\\d+)' --model my-model
  Answers judged by another model:
    benchwright eval -d rows.jsonl --scorer judge --model my-model \\
        --scorer-option rubric='Is it polite?' \\
        --judge-model big-model --judge-base-url http://localhost:9000/v1
"""

BENCH_EXAMPLES = """\b
Examples:
  benchwright bench -m my_agent:MyAgent -d data.jsonl \\
      --eval-fn rewards:score --model my-model --n 10 --concurrency 5
"""


@click.group(
    "eval",
    cls=Group,
    invoke_without_command=True,
    epilog=EXAMPLES,
    more=MORE_EXAMPLES,
    context_settings={"auto_envvar_prefix": "BENCHWRIGHT"},
)
@eval_options
@click.pass_context
def command(context: click.Context, /, as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Evaluate a model or an agent over a dataset.

    The same command resumes an interrupted run, and shows a finished one again.
    """
    if context.invoked_subcommand is None:
        sys.exit(evaluate(options, as_json=as_json, quiet=quiet, debug=debug))


documented_cache_command = copy(cache)
documented_cache_command.hidden = True
command.add_command(documented_cache_command, "cache")


@click.command(
    "bench",
    cls=Command,
    epilog=BENCH_EXAMPLES,
    context_settings={"auto_envvar_prefix": "BENCHWRIGHT"},
)
@eval_options
def bench(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Benchmark a model or an agent over a dataset: the options of `eval`.

    The same command resumes an interrupted run, and runs a finished one again.
    """
    sys.exit(evaluate(options, as_json=as_json, quiet=quiet, debug=debug, anew=True))
