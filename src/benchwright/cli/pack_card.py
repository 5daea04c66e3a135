"""`benchwright pack card RUN`: a shareable card with the result of a pack's run."""

from __future__ import annotations

from pathlib import Path

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Command, option
from benchwright.cli.options import output_option
from benchwright.cli.output import echo, say

EXAMPLES = """\b
Examples:
  benchwright pack card 20261121T10
  benchwright pack card 20261121T10 -o card.svg
"""


@click.command("card", cls=Command, epilog=EXAMPLES)
@click.argument("run", shell_complete=completions.complete_runs)
@option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "svg", "html"]),
    help="Format (default: by the suffix of -o, else text).",
)
@output_option("Write to FILE.", type=click.Path(path_type=Path, dir_okay=False))
def command(run: str, form: str | None, output: Path | None) -> None:
    """Show the result of RUN, a run of a pack, as a card to share.

    It has the pack's total of each model with its categories, the interval of the total over repeats, the versions of
    pack and host, and says what is incomplete.
    """
    from benchwright.analysis.pack_card import pack_card
    from benchwright.files import write_atomically
    from benchwright.reports.pack_card import CARD_FORMATS, FORMATS_BY_SUFFIX
    from benchwright.runs.manifest import read_manifest
    from benchwright.runs.store import find_run
    from benchwright.runs.table import read_table
    from benchwright.secrets import SECRETS

    directory = find_run(run)
    card = pack_card(read_manifest(directory), read_table(directory, effort=True))
    chosen = form or (FORMATS_BY_SUFFIX.get(output.suffix.lower(), "text") if output else "text")
    text = SECRETS.redact(CARD_FORMATS[chosen](card))
    if output is None:
        echo(text.rstrip("\n"))
        return
    write_atomically(output, text.encode("utf-8", "replace"))
    say(f"Written: {output}")
