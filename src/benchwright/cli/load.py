"""`benchwright load`: a server's performance under load, and the accuracy of its answers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from benchwright.cli import completions
from benchwright.cli.access_options import access_options
from benchwright.cli.command_help import Command, combine_options, option
from benchwright.cli.config_file import config_option
from benchwright.cli.option_values import (
    make_settings,
    merge_model_options,
    parse_json_pairs,
    parse_pairs,
    parse_repeated_pairs,
)
from benchwright.cli.options import (
    base_url_option,
    benchmark_options,
    data_directory_option,
    dataset_option,
    dry_run_option,
    failure_options,
    limit_option,
    metrics_options,
    model_options,
    name_option,
    no_stream_option,
    otel_option,
    output_options,
    request_limit_options,
    results_option,
    retry_options,
    row_options,
    sampling_options,
    shuffle_option,
    trial_seconds_option,
    workers_option,
)
from benchwright.cli.scoring_options import judge_options, scorer_options
from benchwright.cli.thinking_options import thinking_options
from benchwright.endpoint.default_server import DEFAULT_SERVER_HELP

EXAMPLES = """\b
Examples:
  Speed and accuracy of a benchmark with 1, 4, 16 and 64 requests in flight:
    benchwright load mmlu --model my-model --concurrency 1,4,16,64
"""

MORE_EXAMPLES = """\b
  Two to sixteen requests per second, and how many meet the objectives:
    benchwright load --dataset questions.jsonl --scorer mcq --model my-model \\
        --rate 2,4,8,16 --slo ttft=0.5 --slo latency=10
  Against yesterday's measurement, each level three times:
    benchwright load --synthetic-input 512 --model my-model \\
        --concurrency 4,16 --repeats 3 --against load-20261122T18
  Find saturation with synthetic prompts, doubling the load:
    benchwright load --synthetic-input 512 --synthetic-output 128 \\
        --model my-model --sweep
"""


def _numbers(kind: type[int] | type[float]) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """Return a callback that parses a list of numbers: `1,4,16`."""

    def read(_: click.Context, parameter: click.Parameter, text: str | None) -> tuple[Any, ...]:
        parts = (text or "").strip("[] ").split(",")
        try:
            return tuple(kind(part) for part in parts if part.strip())
        except ValueError:
            raise click.BadParameter(
                f"{text!r} is not a list of numbers such as 1,4,16.", param=parameter
            ) from None

    return read


load_shape_options = combine_options(
    option("--concurrency", "levels", old=("--batch-size", "--batch_size"), callback=_numbers(int),
           metavar="N,N,...", heading="Load", help="Requests in flight, a number for each level."),
    option("--rate", "rates", callback=_numbers(float), metavar="R,R,...", heading="Load",
           help="Requests per second, a number for each level."),
    option("--sweep", is_flag=True, heading="Load", help="Double the level until throughput stops growing."),
    option("--duration", type=float, metavar="SECONDS", heading="Load",
           help="Seconds of a level (default: 30 if no --requests)."),
    option("--requests", type=int, metavar="N", heading="Load",
           help="Requests of each level (default: by --duration)."),
    option("--slo", multiple=True, metavar="NAME=TIME", heading="Load",
           help="Such as ttft=0.5 (seconds) or itl=50ms. Repeatable."),
    option("--price", multiple=True, metavar="[MODEL=]IN,OUT|COST/h", heading="Load", rare=True,
           help="Price of a million tokens, or of an hour of the hardware. Repeatable."),
    option("--energy-url", metavar="URL", heading="Load", rare=True,
           help="Metrics of all GPUs that serve the model, from a DCGM exporter: energy per request and token "
                "(default: not reported)."),
    option("--self-test", is_flag=True, heading="Load", rare=True,
           help="First measure what this machine can measure. Alone, it is all that is done."),
    option("--repeats", type=int, metavar="R", default=1, heading="Load", rare=True,
           help="Measure each level R times, in alternating order."),
    option("--arrivals", type=click.Choice(["constant", "poisson", "trace"]), heading="Load", rare=True,
           help="When requests of an open loop arrive (default: poisson)."),
    option("--trace", type=click.Path(path_type=Path), metavar="FILE|RUN", heading="Load", rare=True,
           help="Replay a trace: its arrival times and, without other prompts, its requests."),
    option("--speed", type=float, metavar="FACTOR", heading="Load", rare=True,
           help="How many times as fast the trace is replayed (default: 1)."),
    option("--max-think", type=float, metavar="SECONDS", heading="Load", rare=True,
           help="Longest time between an answer and the next turn (default: no limit)."),
    option("--block-size", type=int, metavar="TOKENS", heading="Load", rare=True,
           help="Tokens of a block of the trace (default: by its format)."),
    option("--max-in-flight", type=int, metavar="N", default=1024, heading="Load", rare=True,
           help="Maximum requests of an open loop in flight at once."),
    option("--keep-bodies", type=float, metavar="SHARE", default=1.0, heading="Output", rare=True,
           help="Share of conversations to keep; failed ones are always kept."),
    option("--warmup", metavar="N|SECONDSs", heading="Load", rare=True,
           help="Requests (20) or time (5s) to ignore at the start of a level "
           "(default: as many requests as are in flight; in an open loop, a tenth)."),
    option("--cooldown", metavar="N|SECONDSs", heading="Load", rare=True,
           help="Requests or time to ignore at the end of a level (default: none)."),
    option("--window", metavar="BEGIN:END", heading="Load", rare=True,
           help="Seconds of each level that count, such as 10:60 (default: found)."),
    option("--gain", type=float, metavar="FRACTION", default=0.1, heading="Load", rare=True,
           help="Growth of throughput below which doubling the load ends the sweep."),
    option("--bisect", type=int, metavar="N", default=2, heading="Load", rare=True,
           help="Maximum extra levels that narrow the saturation point down."),
    option("--most", type=float, metavar="LEVEL", heading="Load", rare=True,
           help="Highest level of a sweep (default: 1024 in flight, or 4096 requests/s)."),
)  # fmt: skip
"""Options for the load: at which levels, for how long and how requests are sent."""

load_comparison_options = combine_options(
    option("--against", metavar="LOAD", heading="Rules", rare=True,
           help="Compare with this measurement: its tag (load-…) or file of -o."),
    option("--max-regression", type=float, metavar="LOSS", heading="Rules", rare=True,
           help="Exit with 3 if throughput or p99 is surely worse by this share."),
    option("--prove", is_flag=True, heading="Rules", rare=True,
           help="Exit with 3 unless shown not to be worse by more than that."),
)  # fmt: skip
"""Options for comparing the load measurement with an earlier one."""

synthetic_options = combine_options(
    option("--synthetic-input", metavar="TOKENS", heading="Dataset",
           help="Synthetic prompts of about so many tokens."),
    option("--synthetic-output", metavar="TOKENS", heading="Dataset", rare=True,
           help="Maximum tokens of an answer to a synthetic prompt (default: not sent). Both also take "
           "MEAN:SPREAD, lognormal:MEAN:SPREAD and file:PATH."),
    option("--turns", type=int, metavar="N", heading="Dataset", rare=True,
           help="Turns of each synthetic conversation (default: 1)."),
    option("--think", type=float, metavar="SECONDS", heading="Dataset", rare=True,
           help="Time between an answer and the next synthetic turn (default: 0)."),
    option("--shared-prefix", type=int, metavar="TOKENS", heading="Dataset", rare=True,
           help="Tokens of a system prompt that all synthetic prompts share (default: none)."),
    option("--images", type=int, metavar="N", heading="Dataset", rare=True,
           help="Images in each synthetic prompt (default: none)."),
    option("--image-size", metavar="WxH", heading="Dataset", rare=True,
           help="Size of these images in pixels (default: 512x512)."),
    option("--tool-definitions", type=int, metavar="N", heading="Dataset", rare=True,
           help="Made-up tools in each synthetic request (default: none)."),
    option("--model-mix", metavar="NAME=WEIGHT,...", heading="Model", rare=True,
           help="Models or adapters that synthetic prompts and traces ask by chance, such as base=0.7,lora=0.3 "
           "(default: --model)."),
    option("--source", type=click.Path(path_type=Path), metavar="PATH", heading="Dataset", rare=True,
           help="File or directory of the benchmark's data (default: found in --data-dir)."),
)  # fmt: skip


@click.command(
    "load",
    cls=Command,
    epilog=EXAMPLES,
    more=MORE_EXAMPLES,
    context_settings={"auto_envvar_prefix": "BENCHWRIGHT"},
)
@click.argument("benchmark", required=False, shell_complete=completions.complete_benchmarks)
@dataset_option
@synthetic_options
@limit_option()
@shuffle_option
@row_options
@data_directory_option
@benchmark_options
@model_options
@base_url_option(DEFAULT_SERVER_HELP)
@access_options
@sampling_options("not sent")
@thinking_options
@no_stream_option
@otel_option
@load_shape_options
@load_comparison_options
@scorer_options
@judge_options
@config_option("load")
@dry_run_option
@failure_options
@metrics_options(default=True)
@request_limit_options
@retry_options(retries=0, max_wait=0.0)
@trial_seconds_option
@workers_option
@name_option
@results_option
@output_options
def command(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Measure speed, goodput and accuracy at rising levels of load.

    The prompts come from BENCHMARK, a --dataset or a --trace, or are synthetic. Each level is a run of its own.
    Ctrl-C ends the level and shows the results so far.
    """
    from benchwright.app.load.settings import LoadSettings
    from benchwright.cli.load_running import measure_and_report, run_self_test
    from benchwright.cli.unused_options import drop_unused_judge_options

    merge_model_options(options)
    if options["benchmark"] is not None:
        drop_unused_judge_options(options, [options["benchmark"]])
    options["param"] = parse_json_pairs(options["param"], "--param")
    options["where"] = parse_repeated_pairs(options["where"], "--where")
    for name in ("option", "scorer_option", "column"):
        options[name] = parse_pairs(options[name], f"--{name.replace('_', '-')}")
    settings = make_settings(LoadSettings, options)
    if settings.load.self_test and not settings.has_prompts:
        sys.exit(run_self_test(as_json=as_json, quiet=quiet))
    sys.exit(measure_and_report(settings, as_json=as_json, quiet=quiet))
