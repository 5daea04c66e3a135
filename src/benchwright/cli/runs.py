"""`benchwright runs`: what was run on this machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from benchwright.cli.output import echo, print_json, print_table, say
from benchwright.text import plain

if TYPE_CHECKING:
    from benchwright.runs.listing import ListedRun

EXAMPLES = """\b
Examples:
  benchwright runs
  benchwright runs --kind benchmark --model llama --state finished
  benchwright runs tag 20261121T10 release-candidate
  benchwright runs --tag release-candidate --json
  benchwright runs delete 20261120T08 20261120T09
"""


@click.group("runs", epilog=EXAMPLES, invoke_without_command=True)
@click.option("--kind", type=click.Choice(["eval", "benchmark", "pack"]), help="List only runs of this kind.")
@click.option(
    "--model", default="", metavar="TEXT", help="List only runs of models whose name contains TEXT."
)
@click.option(
    "--state", type=click.Choice(["finished", "stopped", "unfinished"]), help="List only runs in this state."
)
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="List only runs with this tag. Repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.pass_context
def command(
    context: click.Context,
    kind: str | None,
    model: str,
    state: str | None,
    tags: tuple[str, ...],
    as_json: bool,
    debug: bool,
) -> None:
    """List the runs on this machine, the newest first; tag and delete them."""
    if context.invoked_subcommand is not None:
        return
    from benchwright.runs.listing import list_runs

    runs = list_runs(kind=kind, model=model, state=state, tags=tags, say=say)
    if as_json:
        print_json({"runs": runs})
    elif runs:
        _print(runs)
    else:
        narrowed = kind or model or state or tags
        echo("No runs match." if narrowed else "There are no runs yet.", err=True)


def _print(runs: Sequence[ListedRun]) -> None:
    from rich.table import Table

    from benchwright.runs.listing import models_of

    tagged = any(run.tags for run in runs)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("Run", "Started (UTC)", "State", "Model", "Trials", *(["Tags"] if tagged else [])):
        table.add_column(
            column,
            justify="right" if column == "Trials" else "left",
            overflow="fold",
            no_wrap=column not in ("Model", "Tags"),
        )
    for run in runs:
        manifest = run.manifest
        started = datetime.fromtimestamp(manifest.created_at / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S")
        models = ", ".join(map(plain, models_of(manifest)))
        tags = [", ".join(map(plain, run.tags))] if tagged else []
        state = f"{run.state}, {run.failed:,} failed" if run.failed else run.state
        table.add_row(manifest.id, started, state, models, _trials(run), *tags)
    print_table(table)


def _trials(run: ListedRun) -> str:
    if run.done is None:
        return "?"
    if run.planned in (None, run.done):
        return f"{run.done:,}"
    return f"{run.done:,} of {run.planned:,}"


@command.command("tag")
@click.argument("run")
@click.argument("tags", nargs=-1, required=True, metavar="TAG [TAG ...]")
@click.option("--remove", is_flag=True, help="Remove the tags instead of adding them.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def tagging(run: str, tags: tuple[str, ...], remove: bool, debug: bool) -> None:
    """Add tags to RUN: an id, a unique part of one, or a directory."""
    from benchwright.runs.listing import tag_run

    echo(", ".join(map(plain, tag_run(run, tags, remove=remove))) or "no tags")


@command.command("delete")
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN ...]")
@click.option("-y", "--yes", is_flag=True, help="Delete without asking.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def deletion(runs: tuple[str, ...], yes: bool, debug: bool) -> None:
    """Delete runs with all their conversations. Result files and cache files are kept."""
    from benchwright.errors import UserError
    from benchwright.runs.listing import delete_run, runs_to_delete

    directories = runs_to_delete(runs)
    if not yes:
        if not sys.stdin.isatty():
            raise UserError("Cannot ask for confirmation without a terminal; use --yes to delete.")
        for directory in directories:
            echo(directory.name)
        if not click.confirm(f"Delete {len(directories)} run(s) permanently?", default=False):
            echo("Nothing was deleted.")
            return
    for directory in directories:
        delete_run(directory)
        echo(f"Deleted {directory.name}.")
