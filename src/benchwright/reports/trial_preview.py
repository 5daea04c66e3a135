"""A short view of a trial for a terminal: the input, the expected and given answer, and each score with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from benchwright.analysis.report.text_pieces import find_span, shorten_to_pieces
from benchwright.analysis.suspicious_passes import kind_in_words
from benchwright.analysis.transcripts import Transcript
from benchwright.analysis.trial_preview import score_explanation, trial_notes
from benchwright.formats import number_text
from benchwright.records import ScoreRecord
from benchwright.runs.flags import flags_in
from benchwright.text import make_lines_safe, make_safe, truncate

MAX_TEXT_LENGTH = 1200
"""Maximum number of characters of one text. The conversation contains the whole text."""


def render_preview(attempt: Transcript) -> RenderableType:
    """Render names and values in two columns: input, expected answer, given answer, scores, reasons, notes, flags."""
    grid = Table.grid(padding=(0, 2), expand=True)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for name, told in _lines(attempt):
        grid.add_row(name, told)
    return Padding(grid, (0, 0, 1, 0))


def _lines(attempt: Transcript) -> Iterator[tuple[str, Text]]:
    preview = attempt.preview
    if preview.input:
        yield "Input", _shown(preview.input)
    if preview.target:
        yield "Expected", _shown(preview.target)
    if preview.answer is not None:
        yield "Answer", _shown(preview.answer, [score.span for score in attempt.scores]) or Text("(nothing)")
    for name, value in attempt.trial.scores.items():
        yield "Score", Text(f"{make_safe(name)}: {number_text(value)}", style="bold")
    for score in attempt.scores:
        yield "Score", Text(_value(score), style="bold")
        reason = score_explanation(score, preview.target)
        if reason is not None:
            yield "Why", _shown(reason)
    for note in trial_notes(attempt.trial):
        yield "Note", Text(make_lines_safe(truncate(note, MAX_TEXT_LENGTH)), style="yellow")
    flags = dict.fromkeys(flag for score in attempt.scores for flag in flags_in(score.detail))
    for flag in flags:
        told = f"{kind_in_words(flag.kind)}: {flag.evidence}"
        yield "Flag", Text(make_lines_safe(truncate(told, MAX_TEXT_LENGTH)), style="yellow")
    if not attempt.scores and preview.explanation:
        yield "Why", _shown(preview.explanation)


def _value(score: ScoreRecord) -> str:
    return f"{make_safe(score.scorer)}: {score.status if score.value is None else number_text(score.value)}"


def _shown(text: str, spans: Sequence[str | None] = ()) -> Text:
    """Shorten a text in its middle, and highlight the extracted answer in it.

    `spans`: extracted answers, the first of which that occurs in the text is highlighted.
    """
    text = text.strip("\n")
    found = next(filter(None, (find_span(text, span) for span in spans)), None)
    shown = Text()
    for piece in shorten_to_pieces(text, MAX_TEXT_LENGTH, found):
        style = {"span": "black on yellow", "cut": "dim italic"}.get(piece.kind, "")
        shown.append(f" [{piece.text}] " if piece.kind == "cut" else make_lines_safe(piece.text), style)
    return shown
