"""`benchwright run`: runs benchmarks of the catalog."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from benchwright.cli import completions
from benchwright.cli.access_options import access_options
from benchwright.cli.agent_options import recipe_option
from benchwright.cli.command_help import Command, option
from benchwright.cli.config_file import config_option
from benchwright.cli.cost_options import cost_options, take_rates
from benchwright.cli.option_settings import benchmark_settings
from benchwright.cli.option_values import make_settings, merge_model_options, parse_json_pairs
from benchwright.cli.options import (
    DOCUMENTED_PROGRAM,
    base_url_option,
    benchmark_options,
    concurrency_option,
    data_directory_option,
    keep_images_option,
    limit_option,
    metrics_options,
    model_options,
    output_options,
    repeats_option,
    run_options,
    sampling_options,
    seal_option,
    shuffle_option,
    until_options,
)
from benchwright.cli.output import say
from benchwright.cli.scoring_options import judge_labels_option, judge_options
from benchwright.cli.thinking_options import thinking_options
from benchwright.endpoint.default_server import DEFAULT_SERVER_HELP, DOCUMENTED_SERVER

if TYPE_CHECKING:
    from benchwright.cli.cost_options import CostRates
    from benchwright.config import BenchmarkSettings

EXAMPLES = """\b
Examples:
  A quick look, with 50 samples; two models on the same questions:
    llm-bench --model my-model run mmlu --max-samples 50
    benchwright run mmlu_pro --model model-a --model model-b --limit 500
"""

MORE_EXAMPLES = """\b
  The whole suite of tier 1:
    llm-bench --model my-model run mmlu mmlu_pro humaneval ifeval hle \\
        longbench_v2 graphwalks
  Only some subjects with four repeats of each question; a variant:
    benchwright run mmlu --model my-model --where category=stem --n 4
    benchwright run mmlu:5shot --model my-base-model
  Only some tasks, by their ids or by a file of ids:
    benchwright run swe_bench --model my-model --where 'id=django__*'
    benchwright run swe_bench --model my-model --ids tasks.txt
  All 500 tasks on a disk that is too small for their images:
    benchwright run swe_bench --model my-model --keep-images none
  The official protocol to the letter, without the seal:
    benchwright run swe_bench --model my-model --no-seal
  Claude Code in the containers of the tasks:
    benchwright run terminal_bench --agent claude-code --model my-model
  A judge for hle, a simulated user for tau_bench:
    benchwright run hle --model my-model --judge-model big-model \\
        --judge-base-url http://localhost:9000/v1
    benchwright run tau_bench --model my-model --n 4 \\
        --option user_model=big-model
  Every agent with every model, and their table:
    benchwright run terminal_bench --agent codex --agent opencode \\
        --model model-a --model model-b
  Several benchmarks by the name of a suite, and what they would cost:
    benchwright run --suite quick --model my-model
    benchwright run --suite reasoning --model my-model --dry-run \\
        --speed 1500 --price my-model=0.5,1.5
  Several benchmarks for several models, as a file says, and their table:
    benchwright run --suite suite.toml
  Tasks in Harbor's format, of a folder or fetched from its registry:
    benchwright run harbor:tasks --model my-model
    benchwright run harbor:hello-world@1.0 --model my-model
  A task of Inspect or lm-evaluation-harness, where these are installed:
    benchwright run inspect:inspect_evals/gsm8k --model my-model --limit 100
    benchwright run lm-eval:gsm8k --model my-model
  An installed bench pack (see also benchwright pack run --help):
    benchwright run pack:toolcall-15 --model my-model
"""


@click.command(
    "run",
    cls=Command,
    epilog=EXAMPLES,
    more=MORE_EXAMPLES,
    context_settings={"auto_envvar_prefix": "BENCHWRIGHT"},
)
@click.argument("benchmarks", nargs=-1, shell_complete=completions.complete_benchmarks)
@option(
    "--suite",
    metavar="NAME|FILE",
    heading="Dataset",
    shell_complete=completions.complete_named_suites,
    help="Run the benchmarks of a suite: quick, reasoning, instruction, code, agents, or a TOML file.",
)
@cost_options
@limit_option("max_samples")
@repeats_option
@data_directory_option
@shuffle_option
@benchmark_options
@model_options
@base_url_option(DEFAULT_SERVER_HELP)
@access_options
@sampling_options("42")
@thinking_options
@option("--no-seed", is_flag=True, heading="Model", rare=True, help="Send no seed.")
@judge_options
@judge_labels_option
@until_options
@config_option("run")
@concurrency_option(8)
@recipe_option
@keep_images_option
@seal_option
@run_options
@metrics_options(
    default=False,
    name="scrape_prometheus",
    url="prometheus_url",
    old=("--scrape-prometheus", "--prometheus-url"),
)
@option(
    "--output-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default="results",
    heading="Output",
    help="Directory of result files.",
)
@output_options
def command(as_json: bool, quiet: bool, debug: bool, no_seed: bool, **options: Any) -> None:
    """Run BENCHMARKS against a model, one after the other, with one result file each.

    If a run is interrupted or killed, the same command resumes it. `benchwright list` shows the benchmarks,
    `benchwright list --json` also their variants and options. With --suite, the benchmarks and their settings, and
    the models, are those of a suite.
    """
    from benchwright.app.external_programs import program_of_task
    from benchwright.app.suites import PACK_PREFIX
    from benchwright.cli.benchmark_running import run_benchmarks
    from benchwright.cli.unused_options import drop_unused_judge_options, refuse_unused_options

    names, suite = options.pop("benchmarks"), options.pop("suite")
    rates = take_rates(options)
    if suite is not None:
        sys.exit(_run_suite(suite, names, options, rates, as_json=as_json, quiet=quiet))
    if not names:
        raise click.UsageError("Missing argument 'BENCHMARKS...' (or --suite NAME).")
    if any(name.startswith(PACK_PREFIX) for name in names):
        merge_model_options(options)
        options["param"] = parse_json_pairs(options["param"], "--param")
        sys.exit(_run_packs(names, options, as_json=as_json, quiet=quiet))
    if any(program_of_task(name) for name in names):
        sys.exit(_run_foreign_tasks(names, {**options, "no_seed": no_seed}, as_json=as_json, quiet=quiet))
    options["no_seed"] = no_seed
    _refuse_suites(names, options["plugin"])
    drop_unused_judge_options(options, names)
    if len(options["agent"]) > 1:
        from benchwright.cli.agent_suites import run_benchmarks_with_agents

        sys.exit(run_benchmarks_with_agents(names, options, benchmark_settings, as_json=as_json, quiet=quiet))
    settings = _with_documented_server(benchmark_settings(options))
    refuse_unused_options([settings], names)
    sys.exit(run_benchmarks(names, settings, rates, as_json=as_json, quiet=quiet))


def _with_documented_server(settings: BenchmarkSettings) -> BenchmarkSettings:
    """Return the settings. For `llm-bench` without an address, return them with the documented address."""
    from benchwright.app.models import says_no_address

    program = click.get_current_context().find_root().info_name
    if program != DOCUMENTED_PROGRAM or not says_no_address(settings.endpoint):
        return settings
    say(DOCUMENTED_SERVER.line)
    return settings.model_copy(update={"base_url": DOCUMENTED_SERVER.base_url})


FOREIGN_TASK_OPTIONS = {
    *(
        "models",
        "model",
        "base_url",
        "api_key",
        "max_samples",
        "n",
        "seed",
        "no_seed",
        "temperature",
        "max_tokens",
    ),
    *(
        "concurrency",
        "option",
        "param",
        "output_dir",
        "probe",
        "max_failures",
        "retries",
        "timeout",
        "max_wait",
    ),
    *("request_seconds", "answer_mb", "stream", "config", "debug"),
}
"""Names of the options of `run` that also apply to tasks of other programs."""


def _run_foreign_tasks(names: tuple[str, ...], options: dict[str, Any], *, as_json: bool, quiet: bool) -> int:
    from benchwright.app.external_programs import program_of_task
    from benchwright.cli.foreign_task_running import run_foreign_tasks
    from benchwright.config import JUDGE_SETTING_NAMES

    if others := [name for name in names if program_of_task(name) is None]:
        raise click.UsageError(
            f"Run tasks of other programs in commands of their own; {others[0]!r} is none."
        )
    context = click.get_current_context()
    for name in options.keys() - FOREIGN_TASK_OPTIONS:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"Tasks of other programs have no option --{name.replace('_', '-')}.")
    options |= dict.fromkeys(JUDGE_SETTING_NAMES)
    return run_foreign_tasks(names, benchmark_settings(options), as_json=as_json, quiet=quiet)


def _refuse_suites(names: tuple[str, ...], plugins: tuple[Path, ...]) -> None:
    from benchwright.app.named_suites import suite_names
    from benchwright.app.shared_options import metadata_of_benchmark
    from benchwright.catalog.registry import BENCHMARKS

    for name in names:
        known = name.partition(":")[0] in BENCHMARKS or metadata_of_benchmark(name, plugins) is not None
        if not known and name in suite_names():
            raise click.UsageError(f"{name} is a suite: run it with --suite {name}.")


def _run_suite(
    typed: str,
    names: tuple[str, ...],
    options: dict[str, Any],
    rates: CostRates,
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run a suite. Return the exit code. Options on the command line override those in the suite's file."""
    from benchwright.app.named_suites import find_suite
    from benchwright.app.suites import LABELS_HINT
    from benchwright.cli.suite_running import run_suite
    from benchwright.cli.suite_settings import suite_parts
    from benchwright.cli.unused_options import refuse_unused_options

    if names:
        raise click.UsageError(
            f"Give benchmarks or --suite, not both; {names[0]!r} belongs into a file of your own."
        )
    context = click.get_current_context()
    if context.get_parameter_source("judge_labels") is ParameterSource.COMMANDLINE:
        raise click.UsageError(f"--judge-labels does not go with --suite: {LABELS_HINT}.")
    for name in ("name", "config"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} does not go with --suite: write it into a file of your own.")
    suite = find_suite(typed)
    parts, dry_run = suite_parts(suite), options["dry_run"]
    benchmarks = [part.entry.name for part in parts if part.entry.kind == "benchmark"]
    refuse_unused_options([part.settings_for_all_models for part in parts], benchmarks)
    return run_suite(suite, parts, rates, dry_run=dry_run, as_json=as_json, quiet=quiet)


def _run_packs(names: tuple[str, ...], options: dict[str, Any], *, as_json: bool, quiet: bool) -> int:
    """Run bench packs. Of the given options, use those that packs have. Return the exit code."""
    from benchwright.app.suites import PACK_PREFIX
    from benchwright.cli.pack_running import run_packs
    from benchwright.config import PackSettings, sections_by_name

    if others := [name for name in names if not name.startswith(PACK_PREFIX)]:
        raise click.UsageError(f"Run packs and benchmarks in separate commands; {others[0]!r} is not a pack.")
    given = {name: value for name, value in options.items() if name in sections_by_name(PackSettings)}
    context = click.get_current_context()
    for name in options.keys() - given.keys():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"Bench packs have no option --{name.replace('_', '-')}.")
    settings = make_settings(PackSettings, given)
    packs = [name.removeprefix(PACK_PREFIX) for name in names]
    return run_packs(packs, settings, as_json=as_json, quiet=quiet)
