"""All that a command prints goes through `cli/output.py`, where foreign text is cleaned.

This test reads the source as it stands, so that a second way is noticed on the day it is written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "benchwright"

PRINTING = {
    *("print", "echo_via_pager", "secho", "style", "Console", "from_markup", "render_markup", "pprint"),
    *("click.echo", "sys.stdout.write", "sys.stderr.write", "warnings.warn", "traceback.print_exc"),
}
"""Calls that write to a terminal, or make markup of text: by their last name, or by two or three."""

ALLOWED = {
    ("cli/output.py", "click.echo"),
    ("cli/output.py", "style"),
    ("cli/output.py", "print"),  # of the console below, which cleans
    ("cli/progress.py", "print"),
    ("agents/runners/command_setup.py", "print"),  # on a console that the caller has made, of cleaned text
    ("agents/runners/reports.py", "print"),
    ("api/run_progress.py", "print"),  # of cleaned lines, where the caller asked for progress
    ("app/test_mode.py", "print"),
    ("reports/as_text.py", "Console"),  # that prints into a text, which is cleaned
    ("reports/as_text.py", "print"),
    ("catalog/bfcl/inside/encoder.py", "print"),  # in a sandbox, to a pipe
    ("catalog/bfcl/inside/sentence_transformers.py", "print"),  # likewise
    ("catalog/bfcl/inside/server.py", "print"),  # likewise
    ("data/declared.py", "warnings.warn"),  # of a fixed text, to authors of plugins
    ("scorers/shared.py", "warnings.warn"),  # likewise, of scorers
    ("recipes/inside/forwarding.py", "print"),  # in a container, to a pipe
    ("endpoint/simulate/processes.py", "traceback.print_exc"),  # of our own code, in a process of the server
}


def calls(path: Path) -> Iterator[str]:
    """The names of what a module calls: `a.b.c` as c, b.c and a.b.c."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            parts = ast.unparse(node.func).split(".")
            yield from (".".join(parts[first:]) for first in range(len(parts)))


def test_nothing_is_printed_in_another_way() -> None:
    found = {
        (name, call)
        for path in SOURCE.rglob("*.py")
        if "templates" not in (name := str(path.relative_to(SOURCE))) and not name.startswith("packs/python/")
        for call in calls(path)
        if call in PRINTING
    }
    assert found == ALLOWED
