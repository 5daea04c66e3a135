"""A comparison as GitHub-flavoured Markdown, for pull requests and step summaries.

Text from outside (names, answers) is put into code elements, with every punctuation mark as a character reference. So
such text cannot create markup, links or mentions of users.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from benchwright.analysis.comparison.records import Comparison
from benchwright.analysis.comparison.side_naming import with_side_names
from benchwright.reports.comparison.by_task import printed_verdict_lines
from benchwright.reports.comparison.complete_form import all_blocks, all_notes
from benchwright.reports.comparison.sentences import (
    CellText,
    ExternalText,
    Line,
    comparison_warnings,
    gate_lines,
)
from benchwright.reports.comparison.tables import TableBlock
from benchwright.text import make_safe

UNFOLDED_TABLES = ("Tasks", "Scores", "Metrics", "By concurrency")
"""Titles of the tables that are shown at once. All other tables are folded (collapsed until clicked)."""

GATE_MARKS = {"passed": "✅", "failed": "❌"}

HARMLESS_PUNCTUATION = " .,-"
"""Punctuation marks that need no character reference inside a code element."""


def render_markdown(comparison: Comparison) -> str:
    """Render the whole comparison.

    Tables are folded (collapsed until clicked), except for those named in `UNFOLDED_TABLES`.
    """
    comparison = with_side_names(comparison)
    told = [*printed_verdict_lines(comparison), *comparison_warnings(comparison), *gate_lines(comparison)]
    return render_markdown_parts(
        told, list(all_blocks(comparison)), list(all_notes(comparison)), UNFOLDED_TABLES
    )


def render_markdown_parts(
    told: Sequence[Line], blocks: Sequence[TableBlock], notes: Sequence[Line], unfolded: Container[str]
) -> str:
    """Render verdicts, warnings and gate results, then tables, then notes.

    Tables are folded (collapsed until clicked), except for tables whose titles are in `unfolded`.
    """
    parts = [f"**{line_text(line)}**" for line in told if line.kind == "verdict"]
    parts += [f"> ⚠️ {line_text(line)}" for line in told if line.kind == "warning"]
    ruled = [f"- {GATE_MARKS[line.kind]} {line_text(line)}" for line in told if line.kind in GATE_MARKS]
    parts += ["\n".join(ruled)] if ruled else []
    parts += ["\n".join(block_lines(block, folded=block.title not in unfolded)) for block in blocks]
    parts += [line_text(line) for line in notes]
    return "\n\n".join(parts) + "\n"


def block_lines(block: TableBlock, *, folded: bool) -> Iterator[str]:
    """Yield the lines of a table, inside a folded element with its title if `folded` is True."""
    if folded:
        yield f"<details><summary>{block.title}</summary>\n"
    yield _row([_cell(column) for column in block.columns])
    yield _row([":--" if position < block.left_columns else "--:" for position in range(len(block.columns))])
    yield from (_row([_cell(cell) for cell in row]) for row in block.rows)
    if block.note:
        yield f"\n{block.note}"
    if folded:
        yield "\n</details>"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def line_text(line: Line) -> str:
    """Render a sentence. Text from outside in the sentence is escaped."""
    return "".join(_cell(cell) for cell in line.cells)


def _cell(cell: CellText) -> str:
    return code_element(cell.text) if isinstance(cell, ExternalText) else cell


def code_element(text: str) -> str:
    """Wrap text from outside in a code element, with its punctuation marks escaped. Return "" for blank text."""
    safe = "".join(
        character if character.isalnum() or character in HARMLESS_PUNCTUATION else f"&#{ord(character)};"
        for character in make_safe(text)
    )
    return f"<code>{safe}</code>" if safe.strip() else ""
