"""`benchwright runs`: the runs on this machine."""

from __future__ import annotations

from typing import Any

import click

from benchwright.cli import completions, show
from benchwright.cli.command_help import Group, combine_options, option
from benchwright.cli.confirmation import confirm_deletion
from benchwright.cli.options import (
    json_option,
    kind_option,
    model_filter_option,
    name_filter_option,
    run_limit_option,
    suite_filter_option,
    tags_option,
    yes_option,
)
from benchwright.cli.output import echo, print_json, print_table, say, table_width
from benchwright.cli.table import suite_name_of
from benchwright.text import make_lines_safe, make_safe

EXAMPLES = """\b
Examples:
  benchwright runs
  benchwright runs --kind benchmark --model llama --sort score
"""

MORE_EXAMPLES = """\b
  benchwright runs --text "mmlu nightly" --columns run,model,score,tokens
  benchwright runs tag 20261121T10 release-candidate
  benchwright runs note 20261121T10 "the baseline of the paper"
  benchwright runs --tag release-candidate --json
  benchwright runs delete 20261120T08 20261120T09
"""

NOTE_EXAMPLES = """\b
Examples:
  benchwright runs note 20261121T10 "the baseline of the paper"
  benchwright runs note 20261121T10
"""

RUN_STATES = ("running", "finished", "decided", "stopped", "unfinished")
SORT_ORDERS = ("newest", "oldest", "name", "model", "score", "failed", "time", "state", "size")


list_options = combine_options(
    kind_option,
    model_filter_option,
    name_filter_option,
    option("--state", type=click.Choice(RUN_STATES), metavar="STATE", heading="Which runs",
           help="running, finished, stopped or unfinished ones."),
    suite_filter_option,
    tags_option,
    option("--text", "words", default="", metavar="WORDS", heading="Which runs",
           help="Only runs with each of these words in id, name, model, agent, suite, tags or note."),
    run_limit_option(),
    option("--sort", "order", type=click.Choice(SORT_ORDERS), metavar="ORDER", default="newest",
           heading="What is shown",
           help="newest, oldest, name, model, score, failed, time, state or size."),
    option("--columns", metavar="NAME,NAME,...", heading="What is shown",
           help="Columns of the table: run, id, name, dataset, model, score, failed, trials, state, "
           "time, tags, note, agent, kind, suite, started, tokens (default: as many as fit)."),
    json_option,
)  # fmt: skip
"""Options that select the runs to list, and the columns of the list."""


@click.group("runs", cls=Group, epilog=EXAMPLES, more=MORE_EXAMPLES, invoke_without_command=True)
@list_options
@click.pass_context
def command(context: click.Context, /, **options: Any) -> None:
    """List the runs on this machine, the newest first; show, name, tag and delete them."""
    if context.invoked_subcommand is None:
        _list(**options)


@command.command("list", epilog="\b\nExamples:\n  benchwright runs list --sort score\n")
@list_options
def print_runs(**options: Any) -> None:
    """List the runs on this machine, as `benchwright runs` does."""
    _list(**options)


def _list(
    *,
    kind: str | None,
    state: str | None,
    order: str,
    suite: str | None,
    limit: int | None,
    columns: str | None,
    as_json: bool,
    **wanted: Any,
) -> None:
    from benchwright.analysis.run_list import RunFilter, list_runs, sort_rows
    from benchwright.reports import run_list

    chosen = None if columns is None else run_list.parse_columns(columns)
    name = suite_name_of(suite) if suite else ""
    sought = RunFilter(kind=kind or "", state=state or "", suite=name, **wanted)
    rows = sort_rows(list_runs(sought, say), order)[:limit]
    if as_json:
        print_json({"runs": rows})
    elif rows:
        from benchwright.runs.store import run_names

        room, short = table_width(), run_list.short_ids(run_names())
        print_table(
            run_list.render_run_list(rows, chosen or run_list.fitting_columns(rows, room), short, room)
        )
    else:
        echo("There are no runs yet." if sought == RunFilter() else "No runs match.", err=True)
    for row in rows:
        if row.problem and not as_json:
            say(f"Warning: {row.problem}")


command.add_command(show.command, "show")


@command.command("tag", epilog="\b\nExamples:\n  benchwright runs tag 20261121T10 release\n")
@click.argument("run", shell_complete=completions.complete_runs)
@click.argument(
    "tags", nargs=-1, required=True, metavar="TAG [TAG ...]", shell_complete=completions.complete_tags
)
@option("--remove", is_flag=True, help="Remove them instead.")
def tag_run(run: str, tags: tuple[str, ...], remove: bool) -> None:
    """Add tags to RUN: an id, a unique part of one, or a directory."""
    from benchwright.runs.tags_and_notes import tag_run

    echo(", ".join(map(make_safe, tag_run(run, tags, remove=remove))) or "no tags")


@command.command("note", epilog=NOTE_EXAMPLES)
@click.argument("run", shell_complete=completions.complete_runs)
@click.argument("text", required=False)
@option("--remove", is_flag=True, help="Remove it instead.")
def set_note(run: str, text: str | None, remove: bool) -> None:
    """Note TEXT on RUN, in place of an earlier note; without TEXT, print the note."""
    from benchwright.runs.store import find_run
    from benchwright.runs.tags_and_notes import read_note, set_note

    if text is not None and remove:
        raise click.UsageError("Give a text or --remove, not both.")
    note = read_note(find_run(run)) if text is None and not remove else set_note(run, text or "")
    echo(make_lines_safe(note) or "no note")


@command.command("delete", epilog="\b\nExamples:\n  benchwright runs delete 20261120T08 20261120T09\n")
@click.argument(
    "runs", nargs=-1, required=True, metavar="RUN [RUN ...]", shell_complete=completions.complete_runs
)
@yes_option
def delete_runs(runs: tuple[str, ...], yes: bool) -> None:
    """Delete runs with all their conversations. Result files and cache files are kept."""
    from benchwright.runs.tags_and_notes import delete_run, runs_to_delete

    directories = runs_to_delete(runs)
    if not confirm_deletion([directory.name for directory in directories], "run", yes=yes):
        return
    for directory in directories:
        delete_run(directory)
        echo(f"Deleted {directory.name}.")
