"""`benchwright table`: runs as a leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli import completions
from benchwright.cli.command_help import Command, option
from benchwright.cli.options import (
    json_option,
    kind_option,
    model_filter_option,
    name_filter_option,
    output_option,
    run_limit_option,
    suite_filter_option,
    tags_option,
)
from benchwright.cli.output import echo, print_json, print_table, say, table_text, table_width

if TYPE_CHECKING:
    from rich.console import RenderableType

    from benchwright.analysis.leaderboard.board import BoardEntry
    from benchwright.analysis.leaderboard.records import Leaderboard

EXAMPLES = """\b
Examples:
  benchwright table                       the newest runs on this machine
  benchwright table 20261120T09 20261121T10 --sort mmlu
  benchwright table --tag release --format latex -o table.tex
  benchwright table --kind benchmark --format html -o board.html
  benchwright table --suite nightly --sort model
  benchwright table --tag release --price my-model=0.5,1.5
"""

TEXT_FILE_WIDTH = 80
"""Width in columns of leaderboards that are written to text files."""

TABLE_FORMATS = ("text", "markdown", "latex", "csv", "json", "html")


@click.command("table", cls=Command, epilog=EXAMPLES)
@click.argument("runs", nargs=-1, metavar="[RUN ...]", shell_complete=completions.complete_runs)
@kind_option
@model_filter_option
@name_filter_option
@suite_filter_option
@tags_option
@run_limit_option(100)
@option(
    "--score",
    "scores",
    multiple=True,
    metavar="NAME",
    heading="What is shown",
    help="Show this score (default: the first of each task; of a single task all). Repeatable.",
)
@option(
    "--by",
    type=click.Choice(["model", "run"]),
    default="model",
    heading="What is shown",
    help="A row for each model, or for each run.",
)
@option(
    "--sort",
    default="rank",
    metavar="NAME",
    heading="What is shown",
    help="Sort by rank, a column's name, model, failed, time, tokens or cost.",
)
@option(
    "--price",
    "prices",
    multiple=True,
    metavar="MODEL=IN,OUT",
    heading="What is shown",
    help="Price of a million prompt tokens and of a million completion tokens. Repeatable.",
)
@option(
    "--format",
    "form",
    type=click.Choice(TABLE_FORMATS),
    heading="Output",
    help="Format (default: by the suffix of -o, else text).",
)
@output_option("Write to FILE instead of printing.", type=click.Path(path_type=Path, dir_okay=False))
@option(
    "--title",
    metavar="TEXT",
    heading="Output",
    help="Title of the page (default: the suite, else Leaderboard).",
)
@json_option
def command(
    runs: tuple[str, ...],
    suite: str | None,
    tags: tuple[str, ...],
    kind: str | None,
    model: str,
    name: str,
    limit: int,
    scores: tuple[str, ...],
    by: str,
    sort: str,
    prices: tuple[str, ...],
    form: str | None,
    output: Path | None,
    title: str | None,
    as_json: bool,
) -> None:
    """Show runs as a leaderboard: models as rows, benchmarks and datasets as columns.

    RUN is an id, a unique part of one, or a directory; RUN@SLOT is one of its targets. Without RUN, all runs on this
    machine that match the options are shown.
    """
    from benchwright.analysis.leaderboard.board import BoardOptions, build_leaderboard
    from benchwright.analysis.leaderboard.row_order import sort_board
    from benchwright.analysis.leaderboard.spending import parse_price

    suite = None if suite is None else suite_name_of(suite)
    chosen = (
        _named(runs) if runs else _fitting(suite, limit, kind=kind or "", model=model, name=name, tags=tags)
    )
    if not chosen:
        echo(
            "No runs match." if kind or model or name or tags or suite else "There are no runs yet.", err=True
        )
        return
    wanted = BoardOptions(scores, "run" if by == "run" else "model", dict(map(parse_price, prices)))
    board = sort_board(build_leaderboard(chosen, wanted), sort)
    _give(board, "json" if as_json else form or _form_of(output), output, title or suite or "Leaderboard")


def _named(runs: Sequence[str]) -> list[BoardEntry]:
    """Return the runs that the arguments name, each as `RUN` or `RUN@SLOT`.

    Raises:
        UserError: If there is no such run.
    """
    from benchwright.analysis.leaderboard.board import BoardEntry
    from benchwright.interop.result_formats import find_or_import_run

    found = []
    for reference in runs:
        name, _, slot = (reference, "", "") if Path(reference).exists() else reference.partition("@")
        found.append(BoardEntry(find_or_import_run(name), slot or None))
    return found


def _fitting(suite: str | None, limit: int, **wanted: Any) -> list[BoardEntry]:
    from benchwright.analysis.leaderboard.board import BoardEntry
    from benchwright.runs.run_selection import condition_of_filters, runs_of_suite, select_runs

    fits = condition_of_filters(**wanted)
    if suite is not None:
        return [BoardEntry(directory) for directory in reversed(runs_of_suite(suite, fits, say))]
    found = select_runs(fits, say)
    if len(found) > limit:
        say(f"The newest {limit:,} of {len(found):,} runs; see --limit.")
    return [BoardEntry(directory) for directory in reversed(found[:limit])]


def suite_name_of(text: str) -> str:
    """Return the name of a suite. `text`: the name itself, or the path of the suite's file.

    Raises:
        UserError: If there are no runs of the suite.
    """
    from benchwright.app.suites import suite_name
    from benchwright.errors import UserError
    from benchwright.runs.run_selection import known_suites
    from benchwright.suggestions import did_you_mean

    name, known = suite_name(text), known_suites()
    if name not in known:
        raise UserError(f"There are no runs of a suite {name!r}.{did_you_mean(name, known)}")
    return name


def leaderboard_of_suite(name: str) -> Leaderboard | None:
    """Return the leaderboard of a suite's runs. None if it has no runs."""
    from benchwright.analysis.leaderboard.board import BoardEntry, build_leaderboard
    from benchwright.runs.run_selection import condition_of_filters, runs_of_suite

    found = runs_of_suite(name, condition_of_filters())
    return build_leaderboard([BoardEntry(directory) for directory in reversed(found)]) if found else None


def print_leaderboard(board: Leaderboard) -> None:
    """Print a leaderboard on the terminal."""
    print_table(_rendered(board, table_width()))


def _form_of(output: Path | None) -> str:
    """Return the output format that belongs to the suffix of a file."""
    suffix = "" if output is None else output.suffix.lower().removeprefix(".")
    return {"md": "markdown", "tex": "latex", "htm": "html"}.get(
        suffix, suffix if suffix in TABLE_FORMATS else "text"
    )


def _give(board: Leaderboard, form: str, output: Path | None, title: str) -> None:
    if output is None and form in ("text", "json"):
        print_json(board) if form == "json" else print_leaderboard(board)
        return
    content = _content(board, form, title)
    if output is None:
        echo(content, end="")
        return
    from benchwright.app.report import require_free_path
    from benchwright.files import write_atomically
    from benchwright.secrets import SECRETS

    if form == "html":
        require_free_path(output)
    write_atomically(output, SECRETS.redact(content).encode("utf-8", "replace"))
    say(f"Written: {output}")


def _rendered(board: Leaderboard, room: int) -> RenderableType:
    from benchwright.reports.leaderboard.text import render_board

    return render_board(board, room)


def _content(board: Leaderboard, form: str, title: str) -> str:
    if form == "html":
        from benchwright.reports.html.leaderboard import render_leaderboard

        return render_leaderboard(board, title)
    if form == "json":
        import msgspec

        from benchwright.analysis.json_documents import encode_document

        return msgspec.json.format(encode_document(board), indent=2).decode() + "\n"
    from benchwright.reports.leaderboard import formats

    renderers = {
        "markdown": formats.render_markdown,
        "latex": formats.render_latex,
        "csv": formats.render_csv,
    }
    return (
        renderers[form](board)
        if form in renderers
        else table_text(_rendered(board, TEXT_FILE_WIDTH), TEXT_FILE_WIDTH)
    )
