"""`benchwright runs`: what was run on this machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from benchwright.cli import show
from benchwright.cli.output import echo, print_json, print_table, say, width
from benchwright.cli.table import found_suite
from benchwright.text import plain, plain_lines

EXAMPLES = """\b
Examples:
  benchwright runs
  benchwright runs --kind benchmark --model llama --sort score
  benchwright runs --text "mmlu nightly" --columns run,model,score,tokens
  benchwright runs tag 20261121T10 release-candidate
  benchwright runs note 20261121T10 "the baseline of the paper"
  benchwright runs --tag release-candidate --json
  benchwright runs delete 20261120T08 20261120T09
"""

Function = TypeVar("Function", bound=Callable[..., Any])

KINDS = ("eval", "benchmark", "pack", "load")
STATES = ("running", "finished", "stopped", "unfinished")
ORDERS = ("newest", "oldest", "name", "model", "score", "failed", "time", "state", "size")


def list_options(function: Function) -> Function:
    """Which runs are listed, and what of them."""
    options = [
        click.option("--kind", type=click.Choice(KINDS), help="List only runs of this kind."),
        click.option("--model", default="", metavar="TEXT",
                     help="List only runs of models whose name contains TEXT."),
        click.option("--name", "--benchmark", "name", default="", metavar="TEXT",
                     help="List only runs whose name, benchmark, dataset or pack contains TEXT."),
        click.option("--state", type=click.Choice(STATES), help="List only runs in this state."),
        click.option("--suite", default="", metavar="NAME|FILE", help="List only runs of this suite."),
        click.option("--tag", "tags", multiple=True, metavar="TAG",
                     help="List only runs with this tag. Repeatable."),
        click.option("--text", "words", default="", metavar="WORDS",
                     help="List only runs with each of these words in id, name, model, agent, suite, tags or "
                     "note."),
        click.option("--sort", "order", type=click.Choice(ORDERS), default="newest", show_default=True,
                     help="Order of the runs."),
        click.option("--limit", type=click.IntRange(min=1), help="Maximum number of runs (default: all)."),
        click.option("--columns", metavar="NAME,NAME,...",
                     help="Columns of the table: run, id, name, dataset, model, score, failed, trials, state, "
                     "time, tags, note, agent, kind, suite, started, tokens (default: as many as fit)."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
        click.option("--debug", is_flag=True, help="Show tracebacks."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


@click.group("runs", epilog=EXAMPLES, invoke_without_command=True)
@list_options
@click.pass_context
def command(context: click.Context, /, debug: bool, **options: Any) -> None:
    """List the runs on this machine, the newest first; show, name, tag and delete them."""
    if context.invoked_subcommand is None:
        _list(**options)


@command.command("list")
@list_options
def listing(debug: bool, **options: Any) -> None:
    """List the runs on this machine, as `benchwright runs` does."""
    _list(**options)


def _list(
    *,
    kind: str | None,
    state: str | None,
    order: str,
    suite: str,
    limit: int | None,
    columns: str | None,
    as_json: bool,
    **wanted: Any,
) -> None:
    from benchwright.analysis.run_list import RunFilter, list_runs, ordered
    from benchwright.reports import run_list

    chosen = None if columns is None else run_list.columns_named(columns)
    name = found_suite(suite) if suite else ""
    sought = RunFilter(kind=kind or "", state=state or "", suite=name, **wanted)
    rows = ordered(list_runs(sought, say), order)[:limit]
    if as_json:
        print_json({"runs": rows})
    elif rows:
        from benchwright.runs.store import run_names

        room, short = width(), run_list.short_ids(run_names())
        print_table(run_list.render_run_list(rows, chosen or run_list.usual_columns(rows, room), short, room))
    else:
        echo("There are no runs yet." if sought == RunFilter() else "No runs match.", err=True)
    for row in rows:
        if row.problem and not as_json:
            say(f"Warning: {row.problem}")


command.add_command(show.command, "show")


@command.command("tag")
@click.argument("run")
@click.argument("tags", nargs=-1, required=True, metavar="TAG [TAG ...]")
@click.option("--remove", is_flag=True, help="Remove the tags instead of adding them.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def tagging(run: str, tags: tuple[str, ...], remove: bool, debug: bool) -> None:
    """Add tags to RUN: an id, a unique part of one, or a directory."""
    from benchwright.runs.listing import tag_run

    echo(", ".join(map(plain, tag_run(run, tags, remove=remove))) or "no tags")


@command.command("note")
@click.argument("run")
@click.argument("text", required=False)
@click.option("--remove", is_flag=True, help="Remove the note.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def noting(run: str, text: str | None, remove: bool, debug: bool) -> None:
    """Note TEXT on RUN, in place of an earlier note; without TEXT, print the note."""
    from benchwright.runs.listing import note_run, read_note
    from benchwright.runs.store import find_run

    if text is not None and remove:
        raise click.UsageError("Give a text or --remove, not both.")
    note = read_note(find_run(run)) if text is None and not remove else note_run(run, text or "")
    echo(plain_lines(note) or "no note")


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
