"""Table of imported runs, and notes on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.analysis.import_report import ImportedRun, ImportReport
from benchwright.formats import count_with_noun
from benchwright.reports.comparison.sentences import CellText, ExternalText, Line
from benchwright.reports.comparison.tables import TableBlock


def imported_table(runs: Sequence[ImportedRun]) -> TableBlock:
    """Build a table with a row for each imported run."""
    rows: list[list[CellText]] = [
        [
            *(
                ExternalText(one.id),
                ExternalText(one.program),
                ExternalText(one.task),
                ExternalText(", ".join(one.models)),
            ),
            *(f"{one.trials:,}", f"{one.failed:,}"),
        ]
        for one in runs
    ]
    return TableBlock("Imported", ["Run", "from", "task", "model", "trials", "failed"], rows, left_columns=4)


def imported_lines(report: ImportReport) -> Iterator[Line]:
    """Yield notes on an import: runs that were imported before, data that results lack, and unreadable files."""
    runs = report.imported
    known = sum(not one.new for one in runs)
    if known:
        yield Line("note", [f"{count_with_noun(known, 'run')} of these had been imported before."])
    for program in dict.fromkeys(one.program for one in runs):
        own = [one for one in runs if one.program == program]
        lacks = list(dict.fromkeys(lack for one in own for lack in one.lacks))
        if lacks:
            yield Line(
                "note", [ExternalText(program), " results lack: ", ExternalText(", ".join(lacks)), "."]
            )
    for task, note in dict.fromkeys((one.task, note) for one in runs for note in one.notes):
        yield Line("note", [ExternalText(task), ": ", ExternalText(note)])
    for error in report.unread:
        yield Line("warning", ["Not imported: ", ExternalText(error)])
