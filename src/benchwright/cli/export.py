"""`benchwright export RUN`: writes the rows of a run for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Command, option
from benchwright.cli.options import output_option
from benchwright.cli.output import echo

EXAMPLES = """\b
Examples:
  benchwright export 20261121T10 -o trials.parquet
  benchwright export 20261121T10 --what requests -o requests.csv
  benchwright export 20261121T10 --format inspect -o logs
  benchwright export 20261121T10 --format eee --developer my-lab -o eee
  From Python: benchwright.load_run("20261121T10").requests
"""

FOLDER_FORMATS = ("inspect", "eee", "hf", "atif", "lm-eval")
"""Names of the export formats that are a folder. They are the keys of `FOLDER_WRITERS` in `app.export`."""

MAX_FILES_NAMED = 8
"""Maximum number of written files whose names are printed."""


@click.command("export", cls=Command, epilog=EXAMPLES)
@click.argument("run", shell_complete=completions.complete_runs)
@option(
    "--what", type=click.Choice(["trials", "requests"]), default="trials", help="What to write, one row each."
)
@option(
    "--format",
    "form",
    type=click.Choice(["parquet", "csv", "jsonl", *FOLDER_FORMATS]),
    help="Format (default: by the suffix of -o); the last five are other programs' layouts of a folder.",
)
@option(
    "--developer", metavar="NAME", help="For eee: who made the models that are not named DEVELOPER/MODEL."
)
@output_option(
    f"Write to FILE; {', '.join(FOLDER_FORMATS)} write to a directory.",
    type=click.Path(path_type=Path),
    required=True,
)
def command(run: str, what: str, form: str | None, developer: str | None, output: Path) -> None:
    """Write the trials or requests of RUN, one row each, or the run in the layout of another program.

    RUN is an id, a unique part of one, a directory, or the path of another program's results.

    \b
    inspect   a log of Inspect for each target
    eee       Every Eval Ever: figures and samples for each target
    hf        .eval_results of a model's repository on the Hugging Face Hub
    atif      a trajectory for each trial, as Harbor reads them
    lm-eval   results and samples as lm-evaluation-harness writes them
    """
    from benchwright.app.export import export, export_folder

    if developer is not None and form != "eee":
        raise click.UsageError("--developer is for --format eee.")
    if form not in FOLDER_FORMATS:
        count = export(run, what, output, form)
        echo(f"{count:,} {what} written to {output}", err=True)
        return
    paths = list(export_folder(run, form, output, developer))
    for path in paths[:MAX_FILES_NAMED]:
        echo(f"{path} written", err=True)
    if len(paths) > MAX_FILES_NAMED:
        echo(f"... {len(paths):,} files in all", err=True)
