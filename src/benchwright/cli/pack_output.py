"""What `pack run` prints and writes: the plan, the matrix and the scores, CSV and Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from benchwright.cli.options import say
from benchwright.text import plain


def print_described(described: Mapping[str, Any]) -> None:
    """What a run would be."""
    models = ", ".join(plain(model["id"]) for model in described["models"])
    generation = ", ".join(f"{name}={value}" for name, value in described["generation"].items())
    click.echo(
        f"{plain(described['pack'])} {plain(described['version'])}: {described['cells']:,} cells "
        f"({len(described['scenarios']):,} scenarios, {len(described['models']):,} models, "
        f"{described['attempts']:,} attempts), {described['mode']}"
    )
    click.echo(f"  models: {models}")
    click.echo(f"  generation: {plain(generation)}")


def print_pack_run(report: Any) -> None:
    """The matrix and the scores."""
    from benchwright.cli.output import print_table
    from benchwright.reports.pack import render_matrix, render_scores

    setup = report.setup
    manifest = setup.manifest
    click.echo(
        f"{plain(manifest.name)} {plain(manifest.version)}: {len(setup.scenarios):,} scenarios, "
        f"{len(setup.models):,} models"
    )
    print_table(render_matrix(setup.models, setup.scenarios, report.results.states()))
    click.echo()
    print_table(render_scores(setup.models, report.scores))
    if count := report.document["requestsOfNoCell"]:
        click.echo(
            f"{count:,} requests belong to no cell (sent from a container, or without fetch); see host.log."
        )
    if setup.direct:
        click.echo("Nothing was metered (--direct).")


def write_reports(reports: Sequence[Any], csv_file: Path | None, markdown: Path | None) -> None:
    """Writes the files that were asked for.

    Raises:
        UserError: one cannot be written.
    """
    from benchwright.reports.pack import as_csv, as_markdown

    if csv_file is not None:
        _write_file(csv_file, as_csv([(one.setup, one.results) for one in reports]))
    if markdown is not None:
        _write_file(markdown, "\n".join(as_markdown(one.setup, one.results, one.scores) for one in reports))


def _write_file(path: Path, text: str) -> None:
    from benchwright.files import write_whole
    from benchwright.secrets import SECRETS

    write_whole(path, SECRETS.redact(text).encode("utf-8", "replace"))
    say(f"Written: {path}")
