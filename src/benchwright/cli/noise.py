"""`benchwright noise RUN|MODEL`: variation of a model's answers to the same questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Command
from benchwright.cli.options import json_option
from benchwright.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from benchwright.analysis.noise import NoiseFloor

EXAMPLES = """\b
Examples:
  Of a run with repeats (--n), or of all runs of a model:
    benchwright noise 20261121T10
    benchwright noise my-model
"""


@click.command("noise", cls=Command, epilog=EXAMPLES)
@click.argument(
    "runs", nargs=-1, required=True, metavar="RUN|MODEL...", shell_complete=completions.complete_runs
)
@json_option
def command(runs: tuple[str, ...], as_json: bool) -> None:
    """Show how much answers to the same questions vary, and how many samples a difference needs.

    RUN is an id, a unique part of one, or a directory; MODEL is part of a model's name. Only samples with repeats say
    anything.
    """
    from benchwright.analysis.noise import noise_floors

    floors = noise_floors(runs, say)
    if as_json:
        print_json({"noise": floors})
    else:
        print_noise(floors)


def print_noise(floors: Sequence[NoiseFloor]) -> None:
    """Print the noise of each model on each task, and the samples needed to detect a difference."""
    from benchwright.reports.noise import noise_blocks, noise_lines
    from benchwright.reports.terminal import render_blocks

    print_table(render_blocks(list(noise_lines(floors)), list(noise_blocks(floors))))
