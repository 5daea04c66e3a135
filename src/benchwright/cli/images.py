"""`benchwright images`: container images that Benchwright pulled or built."""

from __future__ import annotations

import click

from benchwright.cli.command_help import Group, option
from benchwright.cli.confirmation import confirm_deletion
from benchwright.cli.options import json_option, yes_option
from benchwright.cli.output import echo, print_json, print_table, say

EXAMPLES = """\b
Examples:
  benchwright images
  benchwright images delete 'swebench/*'
"""

DELETE_EXAMPLES = """\b
Examples:
  benchwright images delete 'swebench/*'
  benchwright images delete --all -y
"""


@click.group("images", cls=Group, epilog=EXAMPLES, invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List and delete the images of containers that we pulled or built.

    Images that were there before are not ours: they are neither listed nor deleted.
    """
    if context.invoked_subcommand is None:
        _list(as_json=as_json)


@command.command("list", epilog="\b\nExamples:\n  benchwright images list --json\n")
@json_option
def print_images(as_json: bool) -> None:
    """List our images, as `benchwright images` does."""
    _list(as_json=as_json)


def _list(*, as_json: bool) -> None:
    from benchwright.app.event_loop import run_async
    from benchwright.app.images import list_images
    from benchwright.reports.images import render_images

    found = run_async(list_images())
    if as_json:
        print_json({"images": found})
    elif found:
        print_table(render_images(found))
    else:
        say("Benchwright has not pulled or built any images.")


@command.command("delete", epilog=DELETE_EXAMPLES)
@click.argument("images", nargs=-1, metavar="[IMAGE ...]")
@option("--all", "everything", is_flag=True, heading="Which images", help="All of ours.")
@yes_option
def delete_images_command(images: tuple[str, ...], everything: bool, yes: bool) -> None:
    """Delete images of ours: by name, or by a pattern such as 'swebench/*'.

    Images that a container or a running benchmark uses stay.
    """
    from benchwright.app.event_loop import run_async
    from benchwright.app.images import delete_images, list_images, matching_images

    if bool(images) == everything:
        raise click.UsageError("Choose what to delete: IMAGE ... or --all.")
    chosen = matching_images(run_async(list_images()), images or ("*",))
    if not chosen:
        say("Benchwright has not pulled or built any images.")
        return
    if not confirm_deletion([image.name for image in chosen], "image", yes=yes):
        return
    for name, deleted in run_async(delete_images(chosen)).items():
        echo(f"Deleted {name}." if deleted else f"Kept {name}: it is in use.")
