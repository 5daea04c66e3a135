"""`benchwright cache`: lists, shows and deletes cached evaluations. Documented as `eval cache`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Group, combine_options, option
from benchwright.cli.confirmation import confirm_deletion
from benchwright.cli.options import json_option, yes_option
from benchwright.cli.output import echo, join_cleaned, print_json, print_table, say
from benchwright.text import make_safe

if TYPE_CHECKING:
    from benchwright.app.cached_evals import CachedEval

EXAMPLES = """\b
Examples:
  benchwright cache list --model llama --status in_progress
  benchwright cache show 3f9a2b7c1d0e
  benchwright cache delete 3f9a2b7c1d0e
  benchwright cache delete --all -y
"""

filter_options = combine_options(
    option("--model", default="", metavar="TEXT", heading="Which evaluations",
           shell_complete=completions.complete_models,
           help="Only those of models whose name contains TEXT."),
    option("--dataset", default="", metavar="TEXT", heading="Which evaluations",
           help="Only those of datasets whose name contains TEXT."),
    option("--status", type=click.Choice(["in_progress", "completed"]), heading="Which evaluations",
           help="Only those with this status."),
)  # fmt: skip


@click.group("cache", cls=Group, epilog=EXAMPLES, invoke_without_command=True, old={"ls": "list"})
@click.pass_context
def command(context: click.Context) -> None:
    """List, show and delete cached evaluations.

    They are the evaluations that `eval` resumes, or shows again once they are finished.
    """
    if context.invoked_subcommand is None:
        echo(context.get_help())


@command.command("dir", epilog="\b\nExamples:\n  benchwright cache dir\n")
def print_directory() -> None:
    """Print the cache's directory."""
    from benchwright.agents.cache.paths import cache_root

    echo(str(cache_root()))


@command.command("list", epilog="\b\nExamples:\n  benchwright cache list --model llama\n")
@filter_options
@json_option
def list_entries(model: str, dataset: str, status: str | None, as_json: bool) -> None:
    """List the cached evaluations, the newest first.

    The columns are separated by tabs if the output is piped.
    """
    from benchwright.app.cached_evals import cached_evals

    found = cached_evals(say, model=model, dataset=dataset, status=status or "")
    if as_json:
        print_json({"evals": found})
        return
    if not found:
        echo("No cached evaluations found.")
        return
    lines = [
        (one.task_id, make_safe(one.model), make_safe(one.dataset), one.status, str(one.runs), one.created_at)
        for one in found
    ]
    if not sys.stdout.isatty():
        for line in lines:
            echo(join_cleaned("\t", line))
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("Task", "Model", "Dataset", "Status", "Runs", "Created"):
        table.add_column(
            column,
            justify="right" if column == "Runs" else "left",
            overflow="fold",
            no_wrap=column not in ("Model", "Dataset"),
        )
    for line in lines:
        table.add_row(*line)
    print_table(table)


@command.command("show", epilog="\b\nExamples:\n  benchwright cache show 3f9a2b7c1d0e\n")
@click.argument("task_id", shell_complete=completions.complete_cached_evals)
@json_option
def show_entry(task_id: str, as_json: bool) -> None:
    """Show the cached evaluation TASK_ID."""
    (found,) = _found(task_id=task_id)[:1]
    if as_json:
        print_json(found)
        return
    facts = (
        ("Task", found.task_id), ("Model", found.model), ("Dataset", found.dataset), ("Status", found.status),
        ("Runs", str(found.runs)), ("Created", found.created_at), ("File", found.path),
    )  # fmt: skip
    for name, value in facts:
        echo(f"{name + ':':9} {make_safe(value)}")


@command.command(
    "delete",
    epilog="\b\nExamples:\n  benchwright cache delete 3f9a2b7c1d0e\n  benchwright cache delete --model llama\n",
)
@click.argument(
    "task_ids", nargs=-1, metavar="[TASK_ID ...]", shell_complete=completions.complete_cached_evals
)
@option("--all", "everything", is_flag=True, heading="Which evaluations", help="All of them.")
@filter_options
@yes_option
def delete_entries(
    task_ids: tuple[str, ...], everything: bool, model: str, dataset: str, status: str | None, yes: bool
) -> None:
    """Delete cached evaluations. The runs themselves are kept."""
    from benchwright.app.cached_evals import remove_cached_evals

    _require_choice(task_ids or everything or model or dataset or status)
    found = [
        one
        for task_id in task_ids or ("",)
        for one in _found(model=model, dataset=dataset, status=status, task_id=task_id)
    ]
    if confirm_deletion(
        [f"{one.task_id}  {one.model}  {one.dataset}" for one in found], "cached evaluation", yes=yes
    ):
        remove_cached_evals(found)
        echo(f"Deleted {len(found)} cached evaluation(s).")


@command.command("rm", hidden=True)
@click.argument("task_id", required=False)
@option("--all", "everything", is_flag=True, heading="Which evaluations", help="All of them.")
@filter_options
@yes_option
def remove_entries(
    task_id: str | None, everything: bool, model: str, dataset: str, status: str | None, yes: bool
) -> None:
    """Delete cached evaluations, as documented: an evaluation that is named is deleted without asking."""
    from benchwright.app.cached_evals import remove_cached_evals

    _require_choice(task_id or everything or model or dataset or status)
    found = _found(model=model, dataset=dataset, status=status, task_id=task_id or "")
    if (
        not task_id
        and not yes
        and not click.confirm(f"Delete {len(found)} cached evaluation(s)?", default=False)
    ):
        echo("Aborted.")
        return
    remove_cached_evals(found)
    echo(f"Deleted {len(found)} cached evaluation(s).")


def _require_choice(chosen: object) -> None:
    from benchwright.errors import UserError

    if not chosen:
        raise UserError("Choose what to remove: a TASK_ID, --all, --model, --dataset or --status.")


def _found(
    *, model: str = "", dataset: str = "", status: str | None = None, task_id: str = ""
) -> list[CachedEval]:
    """Return the cached evaluations that match.

    Raises:
        UserError: If no cached evaluation matches.
    """
    from benchwright.app.cached_evals import cached_evals
    from benchwright.errors import UserError

    found = cached_evals(say, model=model, dataset=dataset, status=status or "", task_id=task_id)
    if not found:
        raise UserError("No matching cached evaluations found.")
    return found
