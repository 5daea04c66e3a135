"""Options that several commands share, each declared once with its unit and default."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from benchwright.cli import completions
from benchwright.cli.command_help import combine_options, debug_option, option
from benchwright.suggestions import did_you_mean

DecoratedFunction = TypeVar("DecoratedFunction", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]

RUN_KINDS = ("eval", "benchmark", "pack", "load", "import", "validation")


if TYPE_CHECKING:
    _ParamType = click.ParamType[int | str]
else:  # in click 8.1 it is not a generic class
    _ParamType = click.ParamType


class _ModelName(click.types.StringParamType):
    name = "model"
    envvar_list_splitter = "\n"
    """Separator of several values in an environment variable: BENCHWRIGHT_MODEL holds one name per line.

    Names may contain blanks.
    """


class _NumberOrAuto(_ParamType):
    name = "number or auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        if value == "auto":
            return "auto"
        try:
            return int(value)
        except ValueError:
            hint = did_you_mean(str(value), ["auto"])
            self.fail(f"{value!r} is neither a number nor 'auto'.{hint}", param, ctx)


# The model

model_options = combine_options(
    option("--model", multiple=True, type=_ModelName(), metavar="MODEL", heading="Model",
           shell_complete=completions.complete_models,
           help="Model, as the endpoint lists it. Repeatable."),
    option("--models", "models_file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
           heading="Model", rare=True, help="TOML file of models and their settings."),
)  # fmt: skip
"""Options that name one model or several; `merge_model_options` processes their values."""


def one_model_option(**settings: Any) -> Decorator:
    """Return the model option of a command that uses a single model."""
    return option("--model", metavar="MODEL", heading="Model", shell_complete=completions.complete_models,
                  help="Model, as the endpoint lists it.", **settings)  # fmt: skip


def base_url_option(default: str) -> Decorator:
    """Return the option for the endpoint's address. `default`: the help's words on the option's default."""
    return option("--base-url", metavar="URL", heading="Model",
                  help=f"Base URL (default: {default}).")  # fmt: skip


DOCUMENTED_PROGRAM = "llm-bench"
"""Program name under which `check` only looks for the model, and `run` and `check` use another default server.

That is documented.
"""
DEFAULT_ENDPOINT_HELP = "$OPENAI_BASE_URL or OpenAI"

temperature_option = option(
    "--temperature", type=float, metavar="T", heading="Model", rare=True,
    help="Sampling temperature (default: the benchmark's or pack's, else not sent).",
)  # fmt: skip
max_tokens_option = option(
    "--max-tokens", type=int, metavar="TOKENS", heading="Model", rare=True,
    help="Maximum tokens of an answer (default: the benchmark's or pack's, else not sent).",
)  # fmt: skip


def sampling_options(seed: str) -> Callable[[DecoratedFunction], DecoratedFunction]:
    """Return the options for fields of every request. `seed`: the help's words on the default of `--seed`."""
    return combine_options(
        temperature_option,
        max_tokens_option,
        option("--seed", type=int, metavar="N", heading="Model", rare=True,
               help=f"Sampling seed, from which each repeat has its own (default: {seed})."),
        option("--param", multiple=True, metavar="KEY=JSON", heading="Model", rare=True,
               help="Any other field of the request, such as top_p=0.9. Repeatable."),
    )  # fmt: skip


otel_option = option(
    "--otel", metavar="URL", heading="Output", rare=True,
    help="Send a span for each trial and request, and each score, to this OpenTelemetry collector.",
)  # fmt: skip

no_stream_option = option(
    "--no-stream", "stream", flag_value=False, default=True, type=bool, heading="Model", rare=True,
    help="Do not stream answers; TTFT is then not measured.",
)  # fmt: skip


# Data

dataset_option = option(
    "-d", "--dataset", type=click.Path(path_type=Path), metavar="FILE", heading="Dataset",
    help="Dataset file: .jsonl, .json, .csv or .parquet.",
)  # fmt: skip

data_directory_option = option(
    "--data-dir", type=click.Path(path_type=Path), metavar="DIR", default="data", heading="Dataset",
    help="Directory of datasets.",
)  # fmt: skip


def limit_option(name: str = "limit", **settings: Any) -> Decorator:
    """Return the option for the maximum number of samples. `name`: the option's name."""
    return option("--limit", name, old=("--max-samples",), metavar="N", heading="Dataset",
                  help="Use at most N samples (default: all).", **{"type": int, **settings})  # fmt: skip


shuffle_option = option("--shuffle", is_flag=True, heading="Dataset", rare=True,
                        help="Shuffle the samples, using the seed.")  # fmt: skip
offset_option = option("--offset", type=int, metavar="N", default=0, heading="Dataset", rare=True,
                       help="Skip the first N rows.")  # fmt: skip

row_options = combine_options(
    option("--column", multiple=True, metavar="PART=NAME", heading="Dataset", rare=True,
           help="Column of prompt, target, options or system (default: found by name). Repeatable."),
    option("--system", metavar="TEXT", heading="Dataset", rare=True,
           help="System prompt of every row (default: the row's own, if any)."),
    option("--template", metavar="TEXT", heading="Dataset", rare=True,
           help="Prompt template; {prompt} is replaced by the row's (default: {prompt})."),
    option("--skip-bad-rows", is_flag=True, heading="Dataset", rare=True,
           help="Leave out rows that cannot be asked or scored, and count them."),
)  # fmt: skip
"""Options for reading the rows of a dataset."""

plugin_option = option(
    "--plugin", multiple=True, type=click.Path(path_type=Path), metavar="FILE", heading="Dataset", rare=True,
    help="Python file that defines benchmarks. Repeatable.",
)  # fmt: skip

benchmark_setting_option = option(
    "--option", multiple=True, metavar="KEY=VALUE", heading="Dataset", rare=True,
    help="Set an option of the benchmark. Repeatable.",
)  # fmt: skip

sample_selection_options = combine_options(
    option("--where", multiple=True, metavar="KEY=PATTERN", heading="Dataset", rare=True,
           help="Use only samples with this metadata or id, such as id=django__*. Repeatable: "
           "of one KEY any may match, different KEYs must all match."),
    option("--ids", type=click.Path(path_type=Path), metavar="FILE", heading="Dataset", rare=True,
           help="Use only the samples whose ids FILE lists, one per line."),
)  # fmt: skip
"""Options that select samples of a benchmark."""

benchmark_options = combine_options(sample_selection_options, benchmark_setting_option, plugin_option)
"""Options of a benchmark: its samples, its settings, and plugins that define it."""

keep_images_option = option(
    "--keep-images", type=click.Choice(["none", "base", "all"]), heading="Running", rare=True,
    help="Images of containers to keep: none, base (one per environment) or all "
    "(default: all, or none if the disk is too small).",
)  # fmt: skip

seal_option = option("--seal/--no-seal", default=True, heading="Running", rare=True,
                     help="Seal agents in containers, or run the official protocol (default: sealed).")  # fmt: skip

repeats_option = option("--n", type=int, metavar="N", default=1, heading="Dataset",
                        help="Repeats of each sample, for pass@k.")  # fmt: skip


# Execution


def concurrency_option(default: int) -> Decorator:
    """Return the option for the number of trials in flight, with its documented spellings."""
    return option(
        "--concurrency", "concurrency", old=("--batch-size", "--batch_size"), heading="Running",
        type=_NumberOrAuto(), metavar="N|auto", default=default,
        help="Trials in flight; auto finds out.",
    )  # fmt: skip


name_option = option("--name", metavar="TEXT", heading="Output",
                     help="Name of the run (default: data, agent and model).")  # fmt: skip

dry_run_option = option("--dry-run", is_flag=True, heading="Running",
                        help="Show what would run; send no request.")  # fmt: skip


def retry_options(
    *, retries: int = 5, max_wait: float = 600.0
) -> Callable[[DecoratedFunction], DecoratedFunction]:
    """Return the options for retrying requests.

    `retries`: default number of retries. `max_wait`: default maximum seconds of waiting.
    """
    return combine_options(
        option("--retries", type=int, metavar="N", default=retries, heading="Limits", rare=True,
               help="Retries of a request after rate limits and temporary errors."),
        option("--max-wait", type=float, metavar="SECONDS", default=max_wait, heading="Limits", rare=True,
               help="Maximum seconds that one trial waits for rate limits."),
    )  # fmt: skip


request_limit_options = combine_options(
    option("--timeout", type=float, metavar="SECONDS", default=300.0, heading="Limits", rare=True,
           help="Maximum seconds until the answer starts."),
    option("--request-seconds", type=float, metavar="SECONDS", default=3600.0, heading="Limits", rare=True,
           help="Maximum seconds of one request, with its retries."),
    option("--answer-mb", type=int, metavar="MIB", default=128, heading="Limits", rare=True,
           help="Maximum size of one answer as it is received, in MiB."),
)  # fmt: skip
"""Options for the limits of one request."""

trial_seconds_option = option("--trial-seconds", type=float, metavar="SECONDS", heading="Limits", rare=True,
                              help="Maximum seconds of one trial (default: no limit).")  # fmt: skip

failure_options = combine_options(
    option("--max-failures", metavar="N|PCT%", heading="Running", rare=True,
           help="Exit with 4 if more trials fail, such as 5 or 2% (default: no limit)."),
    option("--no-probe", "probe", flag_value=False, default=True, type=bool, heading="Running", rare=True,
           help="Do not try endpoints before the first trial (docs/check.md)."),
)  # fmt: skip
"""Options for handling failures, before the first trial and at the end."""

workers_option = option(
    "--workers", type=int, metavar="N", heading="Running", rare=True,
    help="Processes that share the work (default: 1; with Ray, one per CPU).",
)  # fmt: skip

run_options = combine_options(
    option("--fresh", is_flag=True, heading="Running",
           help="Start a new run; resume or show no earlier one."),
    option("--retry-failed", is_flag=True, heading="Running",
           help="Retry only what failed in the last run like this."),
    dry_run_option,
    workers_option,
    option("--executor", type=click.Choice(["local", "ray"]), default="local", heading="Running", rare=True,
           help="Where trials run: processes on this machine, or Ray actors."),
    option("--ray-address", metavar="HOST:PORT", heading="Running", rare=True,
           help="Ray cluster (default: start Ray on this machine)."),
    option("--fsync", type=click.Choice(["second", "always"]), default="second", heading="Running", rare=True,
           help="Flush the journal to disk every second, or on every write."),
    failure_options,
    request_limit_options,
    retry_options(),
    trial_seconds_option,
    option("--trial-tokens", type=int, metavar="TOKENS", heading="Limits", rare=True,
           help="Maximum tokens of one trial (default: no limit)."),
    option("--budget-seconds", type=float, metavar="SECONDS", heading="Limits", rare=True,
           help="Stop the run after this many seconds (default: no limit)."),
    option("--budget-tokens", type=int, metavar="TOKENS", heading="Limits", rare=True,
           help="Stop the run after this many tokens (default: no limit)."),
    no_stream_option,
    otel_option,
    name_option,
)  # fmt: skip
"""Options for the execution of a run."""

until_options = combine_options(
    option("--until", type=click.Choice(["decided", "not-worse"]), metavar="WHAT",
           heading="Running", help="Stop once it is decided, or not-worse is certain."),
    option("--against", metavar="RUN|FILE", heading="Deciding", rare=True, shell_complete=completions.complete_runs,
           help="Decide against these earlier results (default: the first model or the baseline)."),
    option("--margin", type=float, metavar="SCORE", default=0.0, heading="Deciding", rare=True,
           help="Smallest difference that matters, in units of the score."),
    option("--error", type=float, metavar="SHARE", default=0.05, heading="Deciding", rare=True,
           help="Largest chance of a wrong verdict."),
    option("--at-least", type=int, metavar="N", default=1, heading="Deciding", rare=True,
           help="Decide on no fewer than N samples."),
    option("--decide-for", type=click.Choice(["new-questions", "these-samples"]), default="new-questions",
           metavar="WHAT", heading="Deciding", rare=True,
           help="Decide for new-questions of this kind, or for these-samples only."),
    option("--decide-on", multiple=True, metavar="NAME", heading="Deciding", rare=True,
           help="Score to decide on (default: an eval's scorers, accuracy, a pack's passes). Repeatable."),
)  # fmt: skip
"""Options of `--until`, with which a run may stop before all samples are done; see docs/decide.md."""

provider_errors_option = option(
    "--provider-errors", is_flag=True, heading="Running",
    help="In packs, retry only what ended in a provider error.",
)  # fmt: skip


def metrics_options(
    *, default: bool, name: str = "metrics", url: str = "metrics_url", old: tuple[str, str] | None = None
) -> Callable[[DecoratedFunction], DecoratedFunction]:
    """Return the options for reading the server's own metrics.

    `name`, `url`: the names of the two parameters. `old`: former names of the two options.
    """
    flag, address = old or (None, None)
    return combine_options(
        option("--metrics/--no-metrics", name, old=(flag,) if flag else (), default=default, rare=True,
               heading="Running",
               help=f"Read the server's own metrics, or not (default: {'yes' if default else 'no'})."),
        option("--metrics-url", url, old=(address,) if address else (), metavar="URL", rare=True,
               heading="Running", help="Address of the metrics (default: /metrics of the endpoint)."),
    )  # fmt: skip


# Output

json_option = option("--json", "as_json", is_flag=True, heading="Output",
                     help="Print one JSON object to stdout, nothing else.")  # fmt: skip
quiet_option = option("-q", "--quiet", is_flag=True, heading="Output",
                      help="Show no progress, only the result.")  # fmt: skip

output_options = combine_options(json_option, quiet_option, debug_option())
"""Options that select how a command prints its output."""


def output_option(what: str, **settings: Any) -> Decorator:
    """Return the option for the file that a command writes. `what`: the content of that file, for the help."""
    settings = {"type": click.Path(path_type=Path), **settings}
    return option("-o", "--output", metavar="FILE", heading="Output", help=what, **settings)


results_option = output_option("Write the results to FILE as JSON.")

markdown_option = option(
    "--markdown", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", heading="Output", rare=True,
    help="Write the result to FILE as Markdown.",
)  # fmt: skip


# Selection of runs

kind_option = option("--kind", type=click.Choice(RUN_KINDS), metavar="KIND", heading="Which runs",
                     help="Only runs of this kind: eval, benchmark, pack, load, import or validation.")  # fmt: skip
tags_option = option("--tag", "tags", multiple=True, metavar="TAG", heading="Which runs",
                     shell_complete=completions.complete_tags, help="Only runs with this tag. Repeatable.")  # fmt: skip
model_filter_option = option("--model", default="", metavar="TEXT", heading="Which runs",
                      shell_complete=completions.complete_models,
                      help="Only runs of models whose name contains TEXT.")  # fmt: skip
name_filter_option = option("--name", old=("--benchmark",), default="", metavar="TEXT", heading="Which runs",
                     help="Only runs whose name, benchmark, dataset or pack contains TEXT.")  # fmt: skip
suite_filter_option = option("--suite", metavar="NAME|FILE", heading="Which runs",
                      shell_complete=completions.complete_suites,
                      help="Only runs of this suite.")  # fmt: skip
anyway_option = option("--anyway", is_flag=True, rare=True,
                       help="Compare runs even if they are not comparable.")  # fmt: skip


def run_limit_option(default: int | None = None) -> Decorator:
    """Return the option for the maximum number of listed runs."""
    text = "At most N runs (default: all)." if default is None else "At most N runs."
    return option("--limit", type=click.IntRange(min=1), metavar="N", heading="Which runs",
                  help=text, default=default)  # fmt: skip


# Deletion

yes_option = option("-y", "--yes", is_flag=True, help="Delete without asking.")


# Packs and servers

host_version_option = option(
    "--compatible-version", metavar="VERSION", heading="Pack", rare=True,
    help="Version of the desktop host to be compatible with (default: 0.3.0).",
)  # fmt: skip
node_option = option("--node", default="node", metavar="PROGRAM", heading="Pack", rare=True,
                     help="Node.js program to use.")  # fmt: skip
host_option = option("--host", default="127.0.0.1", metavar="ADDRESS", heading="Server",
                     help="Address to listen on.")  # fmt: skip


open_browser_option = option("--open/--no-open", "open_browser", default=True, heading="Server",
                     help="Open a browser, or not (default: yes, if there is one).")  # fmt: skip


def port_option(default: int) -> Decorator:
    """Return the option for the port of a local server."""
    return option("--port", type=click.IntRange(0, 65535), metavar="PORT", default=default, heading="Server",
                  help="Port to listen on; 0 picks a free one.")  # fmt: skip
