"""`benchwright run`: benchmarks of the catalog."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from benchwright.cli.options import (
    benchmark_options,
    concurrency_option,
    config_option,
    data_option,
    endpoint_options,
    json_pairs,
    make_settings,
    output_options,
    pairs,
    run_options,
    set_up_logging,
    take_models,
)

if TYPE_CHECKING:
    from benchwright.config import BenchmarkSettings

EXAMPLES = """\b
Examples:
  A quick look, then the whole suite of tier 1:
    llm-bench --model my-model run mmlu --max-samples 50
    llm-bench --model my-model run mmlu mmlu_pro humaneval ifeval hle longbench_v2 graphwalks
  Only some subjects with four repeats per question; a variant:
    benchwright run mmlu --model my-model --where category=stem --n 4 --temperature 0.7
    benchwright run mmlu:5shot --model my-base-model
  Two models on the same questions, compared at the end:
    benchwright run mmlu_pro --model model-a --model model-b --max-samples 500
  A judge for hle, a simulated user for tau_bench:
    benchwright run hle --model my-model --option judge_model=big-model \\
        --option judge_base_url=http://localhost:9000/v1
    benchwright run tau_bench --model my-model --option user_model=big-model --n 4
  Several benchmarks for several models, as a file says, and their table:
    benchwright run --suite suite.toml
  An installed bench pack (see also benchwright pack run --help):
    benchwright run pack:toolcall-15 --model my-model
"""


@click.command(
    "run", epilog=EXAMPLES, context_settings={"auto_envvar_prefix": "BENCHWRIGHT", "show_default": False}
)
@click.argument("benchmarks", nargs=-1)
@click.option(
    "--suite",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Run the benchmarks of a TOML file, each for all of its models, and show them as a table.",
)
@config_option("run")
@endpoint_options
@click.option("--no-seed", is_flag=True, help="Send no seed.")
@click.option(
    "--max-samples", "--limit", type=int, help="Maximum number of samples per benchmark (default: all)."
)
@click.option("--n", type=int, default=1, show_default=True, help="Repeats per sample, for pass@k.")
@click.option("--shuffle", is_flag=True, help="Shuffle the samples, using the seed.")
@benchmark_options
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path),
    default="results",
    show_default=True,
    help="Directory for result files.",
)
@data_option
@click.option("--scrape-prometheus", is_flag=True, help="Add the server's Prometheus metrics to the result.")
@click.option(
    "--prometheus-url", metavar="URL", help="Address of the metrics (default: /metrics of the endpoint)."
)
@concurrency_option(8)
@run_options
@click.option("--retry-failed", is_flag=True, help="Retry only the failed trials of the last matching run.")
@output_options
def command(as_json: bool, quiet: bool, debug: bool, no_seed: bool, **options: Any) -> None:
    """Run BENCHMARKS against a model, one after the other, with one result file each.

    If a run is interrupted or killed, the same command resumes it. `benchwright list` shows the benchmarks,
    `benchwright list --json` also their variants and options. With --suite, the benchmarks and their settings, and
    the models, are those of a file.
    """
    set_up_logging(debug=debug)
    from benchwright.app.suites import PACK
    from benchwright.cli.benchmark_running import run_benchmarks

    names, suite = options.pop("benchmarks"), options.pop("suite")
    if suite is not None:
        sys.exit(_run_suite(suite, names, options, as_json=as_json, quiet=quiet))
    if not names:
        raise click.UsageError("Missing argument 'BENCHMARKS...' (or --suite FILE).")
    if any(name.startswith(PACK) for name in names):
        take_models(options)
        options["param"] = json_pairs(options["param"], "--param")
        sys.exit(_run_packs(names, options, as_json=as_json, quiet=quiet))
    settings = benchmark_settings({**options, "no_seed": no_seed})
    sys.exit(run_benchmarks(names, settings, as_json=as_json, quiet=quiet))


def benchmark_settings(options: dict[str, Any]) -> BenchmarkSettings:
    """The settings that the options stand for."""
    from benchwright.config import BenchmarkSettings

    take_models(options)
    options["param"] = json_pairs(options["param"], "--param")
    options["where"] = pairs(options["where"], "--where")
    options["option"] = pairs(options["option"], "--option")
    if options.pop("no_seed"):
        options["seed"] = None
    elif options["seed"] is None:
        del options["seed"]
    return make_settings(BenchmarkSettings, options)


def _run_suite(
    path: Path, names: tuple[str, ...], options: dict[str, Any], *, as_json: bool, quiet: bool
) -> int:
    """Runs a suite; what was typed besides goes over what its file says."""
    from benchwright.app.suites import read_suite
    from benchwright.cli.suite_running import run_suite
    from benchwright.cli.suite_settings import suite_parts

    if names:
        raise click.UsageError(f"Give benchmarks or --suite, not both; {names[0]!r} belongs into {path}.")
    context = click.get_current_context()
    for name in ("name", "config"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} does not go with --suite: write it into {path}.")
    suite, dry_run = read_suite(path), options["dry_run"]
    return run_suite(suite, suite_parts(suite), dry_run=dry_run, as_json=as_json, quiet=quiet)


def _run_packs(names: tuple[str, ...], options: dict[str, Any], *, as_json: bool, quiet: bool) -> int:
    """Runs bench packs with those of the options that packs have too."""
    from benchwright.app.suites import PACK
    from benchwright.cli.pack_running import run_packs
    from benchwright.config import PackSettings

    if others := [name for name in names if not name.startswith(PACK)]:
        raise click.UsageError(f"Run packs and benchmarks in separate commands; {others[0]!r} is not a pack.")
    given = {name: value for name, value in options.items() if name in PackSettings.model_fields}
    context = click.get_current_context()
    for name in options.keys() - given.keys():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"Bench packs have no option --{name.replace('_', '-')}.")
    settings = make_settings(PackSettings, given)
    packs = [name.removeprefix(PACK) for name in names]
    return run_packs(packs, settings, as_json=as_json, quiet=quiet)
