"""Options for scorers and judges."""

from __future__ import annotations

from pathlib import Path

import click

from benchwright.cli import completions
from benchwright.cli.access_options import header_option
from benchwright.cli.command_help import combine_options, option

scorer_options = combine_options(
    option("--scorer", multiple=True, metavar="NAME", heading="Scoring", shell_complete=completions.complete_scorers,
           help="exact, numeric, regex, json, mcq, judge, or your own as MODULE:NAME. Repeatable."),
    option("--scorer-option", multiple=True, metavar="KEY=VALUE", heading="Scoring", rare=True,
           help="Set an option of the scorer (pattern, relative, rubric, ...). Repeatable."),
)  # fmt: skip

judge_options = combine_options(
    option("--judge-model", metavar="MODEL", heading="Scoring", rare=True, shell_complete=completions.complete_models,
           help="Model that judges answers, for --scorer judge or a benchmark with a judge "
           "(default: the model itself; some benchmarks then compare words)."),
    option("--judge-base-url", metavar="URL", heading="Scoring", rare=True,
           help="Base URL of the judge (default: that of the model)."),
    option("--judge-api-key-env", metavar="NAME", heading="Scoring", rare=True,
           help="Environment variable that holds the judge's API key."),
    header_option("judge", "of the judge's requests", "Scoring"),
)  # fmt: skip


judge_labels_option = option(
    "--judge-labels", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", heading="Scoring", rare=True,
    help="People's labels of answers (CSV or JSONL, see `benchwright judge sample`), to correct a judge's scores by.",
)  # fmt: skip
