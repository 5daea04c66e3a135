"""`benchwright eval cache`: the cached evaluations."""

from __future__ import annotations

import sys

import click

from benchwright.cli.output import echo, joined, print_json, print_table, say
from benchwright.text import plain

EXAMPLES = """\b
Examples:
  benchwright eval cache dir
  benchwright eval cache ls --model llama --status in_progress
  benchwright eval cache rm 3f9a2b7c1d0e
  benchwright eval cache rm --all -y
"""


@click.group("cache", epilog=EXAMPLES, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """List or remove cached evaluations."""
    if context.invoked_subcommand is None:
        echo(context.get_help())


@command.command("dir")
def directory() -> None:
    """Print the cache's directory."""
    from benchwright.agents.cache.paths import cache_root

    echo(str(cache_root()))


@command.command("ls")
@click.option("--model", default="", metavar="TEXT", help="List only models whose name contains TEXT.")
@click.option("--dataset", default="", metavar="TEXT", help="List only datasets whose name contains TEXT.")
@click.option(
    "--status", type=click.Choice(["in_progress", "completed"]), help="Only evaluations with this status."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def listing(model: str, dataset: str, status: str | None, as_json: bool) -> None:
    """List the cached evaluations, newest first; tab-separated when piped."""
    from benchwright.app.cached_evals import cached_evals

    found = cached_evals(say, model=model, dataset=dataset, status=status or "")
    if as_json:
        print_json({"evals": found})
        return
    if not found:
        echo("No cached evaluations found.")
        return
    lines = [
        (one.task_id, plain(one.model), plain(one.dataset), one.status, str(one.runs), one.created_at)
        for one in found
    ]
    if not sys.stdout.isatty():
        for line in lines:
            echo(joined("\t", line))
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


@command.command("rm")
@click.argument("task_id", required=False)
@click.option("--all", "everything", is_flag=True, help="Remove all cached evaluations.")
@click.option("--model", default="", metavar="TEXT", help="Remove those whose model name contains TEXT.")
@click.option("--dataset", default="", metavar="TEXT", help="Remove those whose dataset name contains TEXT.")
@click.option(
    "--status", type=click.Choice(["in_progress", "completed"]), help="Only evaluations with this status."
)
@click.option("-y", "--yes", is_flag=True, help="Delete without asking.")
def removal(
    task_id: str | None, everything: bool, model: str, dataset: str, status: str | None, yes: bool
) -> None:
    """Remove cached evaluations. The runs themselves, under BENCHWRIGHT_HOME, are kept."""
    from benchwright.app.cached_evals import cached_evals, remove
    from benchwright.errors import UserError

    if not (task_id or everything or model or dataset or status):
        raise UserError("Choose what to remove: a TASK_ID, --all, --model, --dataset or --status.")
    found = cached_evals(say, model=model, dataset=dataset, status=status or "", task_id=task_id or "")
    if not found:
        raise UserError("No matching cached evaluations found.")
    if (
        not task_id
        and not yes
        and not click.confirm(f"Delete {len(found)} cached evaluation(s)?", default=False)
    ):
        echo("Aborted.")
        return
    remove(found)
    echo(f"Deleted {len(found)} cached evaluation(s).")
