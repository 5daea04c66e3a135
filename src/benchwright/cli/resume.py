"""`benchwright resume` and `retry`: continue a run of any kind by its id."""

from __future__ import annotations

import sys
from typing import Any

import click

from benchwright.cli import completions
from benchwright.cli.access_options import access_options, given_access_options
from benchwright.cli.command_help import Command, option
from benchwright.cli.options import output_options, provider_errors_option

RESUME_EXAMPLES = """\b
Examples:
  benchwright resume 20261121T10
"""

RETRY_EXAMPLES = """\b
Examples:
  All failed trials; only provider errors; one scenario of a pack:
    benchwright retry 20261121T10
    benchwright retry 20261121T10 --provider-errors
    benchwright retry 20261121T10 --scenario TC-03
"""


@click.command("resume", cls=Command, epilog=RESUME_EXAMPLES)
@click.argument("run", metavar="RUN", shell_complete=completions.complete_runs)
@access_options
@output_options
def resume(run: str, as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Resume an unfinished RUN (an id, a unique part of one, or a path) with its original settings."""
    from benchwright.app.run_lookup.existing_runs import find_existing_run
    from benchwright.errors import UserError

    existing = find_existing_run(run)
    if existing.state == "finished":
        raise UserError(f"{existing.manifest.id} is finished; `benchwright retry` retries its failed trials.")
    sys.exit(_continue(existing, given_access_options(options), as_json=as_json, quiet=quiet))


@click.command("retry", cls=Command, epilog=RETRY_EXAMPLES)
@click.argument("run", metavar="RUN", shell_complete=completions.complete_runs)
@option(
    "--failed",
    is_flag=True,
    heading="Running",
    help="Retry all that failed; in a pack, all that did not pass (default).",
)
@provider_errors_option
@option("--errors", is_flag=True, heading="Running", help="In packs, retry what has no result for any error.")
@option(
    "--scenario",
    multiple=True,
    metavar="ID",
    heading="Running",
    help="In packs, retry this scenario. Repeatable.",
)
@access_options
@output_options
def retry(
    run: str,
    failed: bool,
    provider_errors: bool,
    errors: bool,
    scenario: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    debug: bool,
    **options: Any,
) -> None:
    """Retry trials of RUN within the same run. All attempts are kept; the last one counts."""
    from benchwright.app.run_lookup.existing_runs import find_existing_run

    existing = find_existing_run(run)
    if existing.manifest.kind != "pack" and (provider_errors or errors or scenario):
        raise click.UsageError(
            "--provider-errors, --errors and --scenario are for packs only; "
            f"{existing.manifest.id} is not a pack run."
        )
    chosen = {"provider_errors": provider_errors, "errors": errors}
    given: dict[str, Any] = {name: True for name, wanted in chosen.items() if wanted}
    if scenario:
        given["retry_scenario"] = scenario
    if failed or not given:
        given["retry_failed"] = True
    sys.exit(_continue(existing, {**given, **given_access_options(options)}, as_json=as_json, quiet=quiet))


def _continue(existing: Any, given: dict[str, Any], *, as_json: bool, quiet: bool) -> int:
    from benchwright.app.run_lookup.existing_runs import resume_settings

    settings: Any = resume_settings(existing, given)
    if existing.manifest.kind == "pack":
        from benchwright.cli.pack_running import run_packs

        return run_packs([existing.subject], settings, as_json=as_json, quiet=quiet)
    if existing.manifest.kind == "benchmark":
        from benchwright.cli.benchmark_running import run_benchmarks

        return run_benchmarks([existing.subject], settings, as_json=as_json, quiet=quiet)
    from benchwright.cli.eval_running import run_eval

    return run_eval(settings, as_json=as_json, quiet=quiet)
