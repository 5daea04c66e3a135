"""The comparison of load measurements as sentences and tables, for every output format."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.analysis.load.comparison.figures import COMPARED_FIGURES
from benchwright.analysis.load.comparison.records import LoadChange, LoadComparisonResult, LoadPair
from benchwright.analysis.load.figure_records import FigureEstimate
from benchwright.formats import format_milliseconds
from benchwright.reports.comparison.junit import render_test_suite
from benchwright.reports.comparison.markdown import render_markdown_parts
from benchwright.reports.comparison.sentences import CellText, ExternalText, Line, gate_line, p_value_text
from benchwright.reports.comparison.tables import TableBlock

METHOD_NOTE = (
    "Times in milliseconds. 95 % intervals; p-values by Holm over all figures, "
    "and * where they are below 0.05."
)


def verdict_lines(found: LoadComparisonResult) -> Iterator[Line]:
    """Yield the verdicts: which server serves more, and which figures differ at which levels.

    If nothing can be compared, yield the reason instead.
    """
    for pair in found.pairs:
        if pair.refusals and pair.best is None and not pair.changes:
            why = ExternalText("; ".join(pair.refusals))
            yield Line("warning", [f"{pair.a} and {pair.b} are not compared: ", why, ". --anyway does it."])
            continue
        if pair.best is not None:
            yield Line("verdict", [highest_rates_text(pair, pair.best)])
        yield from (Line("verdict", [text]) for text in _differing(pair))


def highest_rates_text(pair: LoadPair, best: LoadChange) -> str:
    """Compare the highest rates of the two servers in one sentence."""
    what = "within the objectives" if best.measure == "goodput" else "at its best level"
    rates = (
        f"{best.b.value:,.2f}/s at {best.level_b.name} against {best.a.value:,.2f}/s at {best.level_a.name}, "
        f"95 % {_percent(best.low)} to {_percent(best.high)}"
    )
    if best.verdict in ("better", "worse"):
        more = "more" if best.change > 0 else "less"
        return f"{pair.b} serves {abs(best.change) * 100:.1f} % {more} than {pair.a} {what}: {rates}, {_p(best)}."
    if best.verdict == "unknown":
        return f"Which serves more {what} is not known: {rates}; there are too few requests."
    both = "at their best levels" if best.measure == "achieved" else what
    return f"No difference found in what {pair.b} and {pair.a} serve {both}: {rates}, {_p(best)}."


def _differing(pair: LoadPair) -> Iterator[str]:
    """Yield two sentences: one with the figures that are better at some level, and one with those that are worse.

    A sentence without figures is left out.
    """
    for verdict in ("better", "worse"):
        told = []
        for name, measure in COMPARED_FIGURES.items():
            found = [one for one in pair.changes if one.measure == name and one.verdict == verdict]
            at = ", ".join(f"{_percent(one.change)} at {one.level_b.name}" for one in found)
            told += [f"{measure.readable_name} ({at})"] if found else []
        if told:
            yield f"{verdict.capitalize()} with {pair.b}: {', '.join(told)}."


def warning_lines(found: LoadComparisonResult) -> Iterator[Line]:
    """Yield a warning if some answers are simulated."""
    if any(side.simulated for side in found.sides):
        yield Line("warning", ["SIMULATED: these answers are not from a model."])


def note_lines(found: LoadComparisonResult) -> Iterator[Line]:
    """Yield the notes on all pairs of measurements."""
    several = len(found.pairs) > 1
    for pair in found.pairs:
        begin = f"{pair.b} and {pair.a}: " if several else ""
        yield from (Line("note", [begin, ExternalText(note), "."]) for note in pair.notes)


def load_gate_lines(found: LoadComparisonResult) -> Iterator[Line]:
    """Yield each gate result (the result of a rule), one sentence each."""
    return map(gate_line, found.rulings)


def load_comparison_markdown(found: LoadComparisonResult) -> str:
    """Render the whole comparison of load measurements as Markdown."""
    told = [*verdict_lines(found), *warning_lines(found), *load_gate_lines(found)]
    tables = list(load_comparison_blocks(found))
    return render_markdown_parts(told, tables, list(note_lines(found)), [block.title for block in tables])


def load_comparison_junit(found: LoadComparisonResult) -> bytes:
    """Render the gate results as JUnit XML, with a case for each pair of measurements."""
    refused = {_name(pair): "; ".join(pair.refusals) for pair in found.pairs if pair.refusals}
    compared = {
        _name(pair): Line("verdict", [highest_rates_text(pair, pair.best)])
        for pair in found.pairs
        if pair.best is not None
    }
    return render_test_suite(found.rulings, refused, compared, list(warning_lines(found)))


def _name(pair: LoadPair) -> str:
    return f"{pair.b} against {pair.a}"


def load_comparison_blocks(found: LoadComparisonResult) -> Iterator[TableBlock]:
    """Yield the table of measurements.

    Then yield, for each pair of measurements, a table of its figures level by level.
    """
    rows: list[list[CellText]] = [
        [
            side.letter,
            *map(ExternalText, (side.model, side.id, side.base_url)),
            f"{len(side.levels)} × {side.runs}" if side.runs > 1 else str(len(side.levels)),
        ]
        for side in found.sides
    ]
    yield TableBlock("Measurements", ["Load", "model", "tag", "address", "levels"], rows, left_columns=4)
    yield from (_changes(pair) for pair in found.pairs if pair.changes)


def _changes(pair: LoadPair) -> TableBlock:
    rows: list[list[CellText]] = []
    level = None
    for change in pair.changes:
        name = change.level_b.name if change.level_b != level else ""
        level = change.level_b
        mark = "*" if change.verdict in ("better", "worse") else ""
        rows.append(
            [
                name,
                COMPARED_FIGURES[change.measure].readable_name,
                _value(change, change.a),
                _value(change, change.b),
                f"{_percent(change.change)}{mark}",
                f"[{_percent(change.low)}, {_percent(change.high)}]",
                _p_cell(change),
            ]
        )
    columns = ["level", "", pair.a, pair.b, "change", "95 % interval", "p"]
    return TableBlock(_name(pair), columns, rows, left_columns=2, note=METHOD_NOTE)


def _value(change: LoadChange, estimate: FigureEstimate) -> str:
    is_time = COMPARED_FIGURES[change.measure].is_time
    return format_milliseconds(estimate.value) if is_time else f"{estimate.value:,.2f}"


def _percent(share: float | None) -> str:
    return "?" if share is None else f"{share * 100:+z.1f} %"


def _p(change: LoadChange) -> str:
    return "" if change.p_adjusted is None else p_value_text(change.p_adjusted)


def _p_cell(change: LoadChange) -> str:
    if change.p_adjusted is None:
        return "–"
    return "< 0.001" if change.p_adjusted < 0.001 else f"{change.p_adjusted:.2g}"
