"""`benchwright bench`: like `eval`, but a finished benchmark is run again."""

from __future__ import annotations

import sys
from typing import Any

import click

from benchwright.cli.eval_options import eval_options, evaluate

EXAMPLES = """\b
Examples:
  benchwright bench -m my_agent:MyAgent -d data.jsonl --eval-fn rewards:score \\
      --model my-model --base-url http://localhost:8000/v1 --n 10 --batch-size 5
"""


@click.command(
    "bench", epilog=EXAMPLES, context_settings={"auto_envvar_prefix": "BENCHWRIGHT", "show_default": False}
)
@eval_options
def command(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Benchmark a model or an agent over a dataset: the options of `eval`.

    The same command resumes an interrupted run, and runs a finished one again.
    """
    sys.exit(evaluate(options, as_json=as_json, quiet=quiet, debug=debug, anew=True))
