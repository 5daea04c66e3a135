"""`benchwright load`: what a server can do under load, and whether its answers stay right."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from benchwright.cli.options import (
    benchmark_options,
    config_option,
    data_option,
    endpoint_options,
    failure_options,
    json_pairs,
    make_settings,
    name_option,
    output_options,
    pairs,
    request_limit_options,
    set_up_logging,
    take_models,
)

EXAMPLES = """\b
Examples:
  Speed and accuracy of a benchmark at 1, 4, 16 and 64 requests in flight:
    benchwright load mmlu --model my-model --base-url http://localhost:8000/v1 --concurrency 1,4,16,64
  Two to sixteen requests per second, and how many meet the objectives:
    benchwright load --dataset questions.jsonl --scorer mcq --model my-model --rate 2,4,8,16 \\
        --slo ttft=0.5 --slo latency=10
  Find saturation with synthetic prompts, doubling the load:
    benchwright load --synthetic-input 512 --synthetic-output 128 --model my-model --sweep
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


@click.command(
    "load", epilog=EXAMPLES, context_settings={"auto_envvar_prefix": "BENCHWRIGHT", "show_default": False}
)
@click.argument("benchmark", required=False)
@config_option("load")
@endpoint_options
@click.option(
    "-d",
    "--dataset",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Dataset file whose rows are sent: .jsonl, .json, .csv or .parquet.",
)
@click.option(
    "--synthetic-input",
    type=int,
    metavar="TOKENS",
    help="Send synthetic prompts of about this many tokens: new ones each time, unless --seed is given.",
)
@click.option(
    "--synthetic-output",
    type=int,
    metavar="TOKENS",
    help="Maximum tokens per answer to a synthetic prompt (default: not sent).",
)
@click.option(
    "--source",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="File or directory of the benchmark's data (default: found in --data-dir).",
)
@data_option
@click.option(
    "--limit", "--max-samples", "limit", type=int, help="Maximum number of different prompts (default: all)."
)
@click.option("--shuffle", is_flag=True, help="Shuffle a benchmark's samples, using the seed.")
@benchmark_options
@click.option(
    "--scorer",
    multiple=True,
    metavar="NAME",
    help="Score the dataset's answers with a built-in scorer (default: not scored). Repeatable.",
)
@click.option(
    "--scorer-option", multiple=True, metavar="KEY=VALUE", help="Set an option of the scorer. Repeatable."
)
@click.option(
    "--judge-model",
    metavar="MODEL",
    help="Model that --scorer judge uses (default: the model judges itself).",
)
@click.option("--judge-base-url", metavar="URL", help="Base URL of the judge (default: that of the model).")
@click.option(
    "--judge-api-key-env", metavar="NAME", help="Environment variable that holds the judge's API key."
)
@click.option(
    "--column",
    multiple=True,
    metavar="PART=NAME",
    help="Column of prompt, target, options or system (default: found by name). Repeatable.",
)
@click.option(
    "--system", metavar="TEXT", help="System prompt for every row (default: the row's own, if any)."
)
@click.option(
    "--template",
    metavar="TEXT",
    help="Prompt template; {prompt} is replaced by the row's prompt (default: {prompt}).",
)
@click.option(
    "--concurrency", "levels", callback=_numbers(int), metavar="N,N,...",
    help="Closed loop: requests in flight, one number per level.",
)  # fmt: skip
@click.option(
    "--rate",
    "rates",
    callback=_numbers(float),
    metavar="R,R,...",
    help="Open loop: requests per second, one number per level.",
)
@click.option(
    "--arrivals",
    type=click.Choice(["constant", "poisson", "trace"]),
    help="When requests of an open loop arrive (default: poisson).",
)
@click.option(
    "--trace",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File of arrival times: offsets in seconds, one per line.",
)
@click.option(
    "--max-in-flight",
    type=int,
    default=1024,
    show_default=True,
    help="Maximum requests of an open loop in flight at once.",
)
@click.option(
    "--requests", type=int, help="Number of requests per level (default: as many as fit into --duration)."
)
@click.option(
    "--duration",
    type=float,
    metavar="SECONDS",
    help="Length of each level (default: 30, or no limit with --requests).",
)
@click.option(
    "--warmup", metavar="N|SECONDSs",
    help="Requests (20) or time (5s) to ignore at the start of a level "
    "(default: as many requests as are in flight; in an open loop, a tenth).",
)  # fmt: skip
@click.option(
    "--cooldown",
    metavar="N|SECONDSs",
    help="Requests or time to ignore at the end of a level (default: none).",
)
@click.option("--sweep", is_flag=True, help="Double the level until throughput stops growing.")
@click.option(
    "--gain",
    type=float,
    default=0.1,
    show_default=True,
    help="Throughput growth, as a fraction, below which doubling the load ends the sweep.",
)
@click.option(
    "--bisect",
    type=int,
    default=2,
    show_default=True,
    help="Maximum extra levels that narrow the saturation point down.",
)
@click.option(
    "--most", type=float, help="Highest level of a sweep (default: 1024 in flight, or 4096 requests/s)."
)
@click.option(
    "--slo", multiple=True, metavar="NAME=TIME",
    help="Latency objective, in seconds unless a unit is given: ttft=0.5, latency=10s, itl=50ms. Repeatable.",
)  # fmt: skip
@click.option(
    "--metrics/--no-metrics",
    default=True,
    help="Whether to read the server's own metrics every second (default: yes).",
)
@click.option(
    "--metrics-url", metavar="URL", help="Address of the metrics (default: /metrics of the endpoint)."
)
@click.option(
    "--no-stream",
    "stream",
    flag_value=False,
    default=True,
    type=bool,
    help="Do not stream answers; TTFT is then not measured.",
)
@request_limit_options
@click.option("--retries", type=int, default=0, show_default=True, help="Retries of a failed request.")
@click.option(
    "--max-wait",
    type=float,
    default=0.0,
    show_default=True,
    help="Maximum seconds that one sample waits for rate limits.",
)
@click.option("--trial-seconds", type=float, help="Maximum seconds of one sample (default: no limit).")
@click.option("--dry-run", is_flag=True, help="Show what would run, without sending any request.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the results to FILE as JSON.",
)
@name_option
@failure_options
@output_options
def command(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Measure speed, goodput and accuracy of a served model at rising levels of load.

    The prompts come from BENCHMARK, from a --dataset, or are synthetic. Every level is an ordinary run, which show,
    compare, report and view can read. Ctrl-C ends the current level and shows the results so far.
    """
    set_up_logging(debug=debug)
    from benchwright.app.load.settings import LoadSettings
    from benchwright.cli.load_running import measure_and_report

    take_models(options)
    options["param"] = json_pairs(options["param"], "--param")
    for name in ("where", "option", "scorer_option", "column"):
        options[name] = pairs(options[name], f"--{name.replace('_', '-')}")
    settings = make_settings(LoadSettings, options)
    sys.exit(measure_and_report(settings, as_json=as_json, quiet=quiet))
