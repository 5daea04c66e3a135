"""`benchwright load`: what a server can do under load, and whether its answers stay right."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from benchwright.cli.options import (
    config_option,
    endpoint_options,
    json_pairs,
    make_settings,
    output_options,
    pairs,
    say,
    set_up_logging,
)

EXAMPLES = """\b
Examples:
  A benchmark with 1, 4, 16 and 64 requests in flight: speed and accuracy at each:
    benchwright load mmlu --model my-model --base-url http://localhost:8000/v1 --concurrency 1,4,16,64
  Users who come on their own, two to sixteen per second; how many are served well:
    benchwright load --dataset questions.jsonl --scorer mcq --model my-model --rate 2,4,8,16 \\
        --slo ttft=0.5 --slo latency=10
  Where is it saturated? Synthetic prompts, doubled until more load buys nothing:
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
@click.option("-d", "--dataset", type=click.Path(path_type=Path), metavar="FILE", help="Rows to ask.")
@click.option(
    "--synthetic-input", type=int, metavar="TOKENS", help="Made-up prompts of about so many tokens."
)
@click.option("--synthetic-output", type=int, metavar="TOKENS", help="Most tokens of their answers.")
@click.option("--source", type=click.Path(path_type=Path), metavar="PATH", help="The benchmark's data.")
@click.option(
    "--data-dir", type=click.Path(path_type=Path), default="data", show_default=True, help="Datasets."
)
@click.option("--limit", "--max-samples", "limit", type=int, help="At most so many different prompts.")
@click.option("--shuffle", is_flag=True, help="Take a benchmark's samples in an order shuffled by the seed.")
@click.option(
    "--where", multiple=True, metavar="KEY=VALUE", help="Only samples with this metadata. Repeatable."
)
@click.option("--option", multiple=True, metavar="KEY=VALUE", help="An option of the benchmark. Repeatable.")
@click.option("--plugin", multiple=True, type=click.Path(path_type=Path), help="Python file with benchmarks.")
@click.option("--scorer", multiple=True, metavar="NAME", help="Scorer of the dataset's answers. Repeatable.")
@click.option("--scorer-option", multiple=True, metavar="KEY=VALUE", help="Option of the scorer.")
@click.option("--judge-model", metavar="MODEL", help="The judge of --scorer judge.")
@click.option("--judge-base-url", metavar="URL", help="Where the judge is; by default where the model is.")
@click.option("--judge-api-key-env", metavar="NAME", help="Environment variable with the judge's key.")
@click.option(
    "--column", multiple=True, metavar="PART=NAME", help="Column for prompt, target, options, system."
)
@click.option("--system", metavar="TEXT", help="System prompt for every row.")
@click.option("--template", metavar="TEXT", help="Text around every prompt, which replaces {prompt} in it.")
@click.option(
    "--concurrency", "levels", callback=_numbers(int), metavar="N,N,...",
    help="Closed loop: so many requests in flight, at each level.",
)  # fmt: skip
@click.option(
    "--rate",
    "rates",
    callback=_numbers(float),
    metavar="R,R,...",
    help="Open loop: so many requests per second.",
)
@click.option(
    "--arrivals",
    type=click.Choice(["constant", "poisson", "trace"]),
    help="When they come (default: poisson).",
)
@click.option(
    "--trace", type=click.Path(path_type=Path), metavar="FILE", help="Arrivals: seconds, one a line."
)
@click.option(
    "--max-in-flight",
    type=int,
    default=1024,
    show_default=True,
    help="Most requests of an open loop at once.",
)
@click.option("--requests", type=int, help="Requests of each level.")
@click.option(
    "--duration", type=float, metavar="SECONDS", help="Time of each level (default: 30, or --requests)."
)
@click.option(
    "--warmup", metavar="N|SECONDSs",
    help="Requests (20) or time (5s) left out at the beginning (default: those in flight; open loop: a tenth).",
)  # fmt: skip
@click.option("--cooldown", metavar="N|SECONDSs", help="The same at the end (default: none).")
@click.option("--sweep", is_flag=True, help="Double the level until more load buys nothing.")
@click.option(
    "--gain", type=float, default=0.1, show_default=True, help="What twice the load must bring, as a share."
)
@click.option(
    "--bisect", type=int, default=2, show_default=True, help="Levels in between, to find it more finely."
)
@click.option("--most", type=float, help="Highest level of a sweep (default: 1024, or 4096 requests/s).")
@click.option(
    "--slo", multiple=True, metavar="NAME=TIME",
    help="Objective of each request: ttft=0.5, latency=10s, itl=50ms. Repeatable.",
)  # fmt: skip
@click.option("--metrics/--no-metrics", default=True, help="Look at the server's own metrics each second.")
@click.option("--metrics-url", metavar="URL", help="Where they are (default: /metrics of the endpoint).")
@click.option(
    "--no-stream", "stream", flag_value=False, default=True, type=bool, help="Do not stream: no TTFT."
)
@click.option(
    "--timeout", type=float, default=300.0, show_default=True, help="Seconds to wait for an answer to begin."
)
@click.option("--retries", type=int, default=0, show_default=True, help="Further tries of a failed request.")
@click.option("--trial-seconds", type=float, help="Longest time of one sample.")
@click.option("--dry-run", is_flag=True, help="Show what would be run, and ask no model.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write it all as JSON.")
@output_options
def command(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Measure speed, goodput and accuracy of a served model at rising levels of load.

    The prompts are those of BENCHMARK, of a --dataset, or synthetic. Every level is an ordinary run: show, compare,
    report and view know it. Ctrl-C ends the level that is under way, and shows what was found.
    """
    set_up_logging(debug=debug)
    from benchwright.app.endpoints import load_dotenv
    from benchwright.app.load.settings import LoadSettings
    from benchwright.cli.load_running import measure_and_report

    load_dotenv()
    options["param"] = json_pairs(options["param"], "--param")
    for name in ("where", "option", "scorer_option", "column"):
        options[name] = pairs(options[name], f"--{name.replace('_', '-')}")
    settings = make_settings(LoadSettings, options)
    sys.exit(measure_and_report(settings, say, as_json=as_json, quiet=quiet))
