"""Table of imported runs, and notes on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.analysis.import_report import ImportedRun, ImportReport
from benchwright.formats import plural
from benchwright.reports.comparison.sentences import CellText, ForeignText, Line
from benchwright.reports.comparison.tables import Block


def imported_table(runs: Sequence[ImportedRun]) -> Block:
    """Build a table with a row for each imported run."""
    rows: list[list[CellText]] = [
        [
            *(
                ForeignText(one.id),
                ForeignText(one.program),
                ForeignText(one.task),
                ForeignText(", ".join(one.models)),
            ),
            *(f"{one.trials:,}", f"{one.failed:,}"),
        ]
        for one in runs
    ]
    return Block("Imported", ["Run", "from", "task", "model", "trials", "failed"], rows, left_columns=4)


def imported_lines(report: ImportReport) -> Iterator[Line]:
    """Yield notes on an import: runs that were imported before, data that results lack, and unreadable files."""
    runs = report.imported
    known = sum(not one.new for one in runs)
    if known:
        yield Line("note", [f"{plural(known, 'run')} of these had been imported before."])
    for program in dict.fromkeys(one.program for one in runs):
        own = [one for one in runs if one.program == program]
        lacks = list(dict.fromkeys(lack for one in own for lack in one.lacks))
        if lacks:
            yield Line("note", [ForeignText(program), " results lack: ", ForeignText(", ".join(lacks)), "."])
    for task, note in dict.fromkeys((one.task, note) for one in runs for note in one.notes):
        yield Line("note", [ForeignText(task), ": ", ForeignText(note)])
    for error in report.unread:
        yield Line("warning", ["Not imported: ", ForeignText(error)])
