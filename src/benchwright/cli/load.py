"""`benchwright load`: what a server can do under load, and whether its answers stay right."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from benchwright.cli import completing
from benchwright.cli.config_file import config_option
from benchwright.cli.grammar import Command, option, together
from benchwright.cli.option_values import json_pairs, make_settings, pairs, take_models
from benchwright.cli.options import (
    LOCAL,
    api_key_option,
    base_url_option,
    benchmark_options,
    data_option,
    dataset_option,
    dry_run_option,
    failure_options,
    limit_option,
    metrics_options,
    model_options,
    name_option,
    no_stream_option,
    output_options,
    request_limit_options,
    results_option,
    retry_options,
    row_options,
    sampling_options,
    scorer_options,
    shuffle_option,
    trial_seconds_option,
)

EXAMPLES = """\b
Examples:
  Speed and accuracy of a benchmark with 1, 4, 16 and 64 requests in flight:
    benchwright load mmlu --model my-model --concurrency 1,4,16,64
"""

MORE = """\b
  Two to sixteen requests per second, and how many meet the objectives:
    benchwright load --dataset questions.jsonl --scorer mcq --model my-model \\
        --rate 2,4,8,16 --slo ttft=0.5 --slo latency=10
  Find saturation with synthetic prompts, doubling the load:
    benchwright load --synthetic-input 512 --synthetic-output 128 \\
        --model my-model --sweep
"""


def _numbers(kind: type[int] | type[float]) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """Reads a list of numbers: `1,4,16`."""

    def read(_: click.Context, parameter: click.Parameter, text: str | None) -> tuple[Any, ...]:
        parts = (text or "").strip("[] ").split(",")
        try:
            return tuple(kind(part) for part in parts if part.strip())
        except ValueError:
            raise click.BadParameter(
                f"{text!r} is not a list of numbers such as 1,4,16.", param=parameter
            ) from None

    return read


shape_options = together(
    option("--concurrency", "levels", old=("--batch-size", "--batch_size"), callback=_numbers(int),
           metavar="N,N,...", heading="Load", help="Requests in flight, a number for each level."),
    option("--rate", "rates", callback=_numbers(float), metavar="R,R,...", heading="Load",
           help="Requests per second, a number for each level."),
    option("--sweep", is_flag=True, heading="Load", help="Double the level until throughput stops growing."),
    option("--duration", type=float, metavar="SECONDS", heading="Load",
           help="Seconds of each level (default: 30, or no limit with --requests)."),
    option("--requests", type=int, metavar="N", heading="Load",
           help="Requests of each level (default: by --duration)."),
    option("--slo", multiple=True, metavar="NAME=TIME", heading="Load",
           help="Such as ttft=0.5 (seconds) or itl=50ms. Repeatable."),
    option("--arrivals", type=click.Choice(["constant", "poisson", "trace"]), heading="Load", rare=True,
           help="When requests of an open loop arrive (default: poisson)."),
    option("--trace", type=click.Path(path_type=Path), metavar="FILE", heading="Load", rare=True,
           help="File of arrival times: offsets in seconds, one per line."),
    option("--max-in-flight", type=int, metavar="N", default=1024, heading="Load", rare=True,
           help="Maximum requests of an open loop in flight at once."),
    option("--warmup", metavar="N|SECONDSs", heading="Load", rare=True,
           help="Requests (20) or time (5s) to ignore at the start of a level "
           "(default: as many requests as are in flight; in an open loop, a tenth)."),
    option("--cooldown", metavar="N|SECONDSs", heading="Load", rare=True,
           help="Requests or time to ignore at the end of a level (default: none)."),
    option("--gain", type=float, metavar="FRACTION", default=0.1, heading="Load", rare=True,
           help="Growth of throughput below which doubling the load ends the sweep."),
    option("--bisect", type=int, metavar="N", default=2, heading="Load", rare=True,
           help="Maximum extra levels that narrow the saturation point down."),
    option("--most", type=float, metavar="LEVEL", heading="Load", rare=True,
           help="Highest level of a sweep (default: 1024 in flight, or 4096 requests/s)."),
)  # fmt: skip
"""How requests are sent."""

synthetic_options = together(
    option("--synthetic-input", type=int, metavar="TOKENS", heading="Dataset",
           help="Synthetic prompts of about so many tokens."),
    option("--synthetic-output", type=int, metavar="TOKENS", heading="Dataset", rare=True,
           help="Maximum tokens of an answer to a synthetic prompt (default: not sent)."),
    option("--source", type=click.Path(path_type=Path), metavar="PATH", heading="Dataset", rare=True,
           help="File or directory of the benchmark's data (default: found in --data-dir)."),
)  # fmt: skip


@click.command(
    "load", cls=Command, epilog=EXAMPLES, more=MORE, context_settings={"auto_envvar_prefix": "BENCHWRIGHT"}
)
@click.argument("benchmark", required=False, shell_complete=completing.benchmarks)
@dataset_option
@synthetic_options
@limit_option()
@shuffle_option
@row_options
@data_option
@benchmark_options
@model_options
@base_url_option(LOCAL)
@api_key_option
@sampling_options("not sent")
@no_stream_option
@shape_options
@scorer_options
@config_option("load")
@dry_run_option
@failure_options
@metrics_options(default=True)
@request_limit_options
@retry_options(retries=0, max_wait=0.0)
@trial_seconds_option
@name_option
@results_option
@output_options
def command(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Measure speed, goodput and accuracy at rising levels of load.

    The prompts come from BENCHMARK, a --dataset, or are synthetic. Each level is a run of its own. Ctrl-C ends
    the level and shows the results so far.
    """
    from benchwright.app.load.settings import LoadSettings
    from benchwright.cli.load_running import measure_and_report

    take_models(options)
    options["param"] = json_pairs(options["param"], "--param")
    for name in ("where", "option", "scorer_option", "column"):
        options[name] = pairs(options[name], f"--{name.replace('_', '-')}")
    settings = make_settings(LoadSettings, options)
    sys.exit(measure_and_report(settings, as_json=as_json, quiet=quiet))
