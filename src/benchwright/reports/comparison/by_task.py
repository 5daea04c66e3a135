"""Comparison of two folders task by task: a table of all tasks, the mean over tasks, and notes without
repetition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.analysis.comparison.records import (
    AllTasksComparison,
    Comparison,
    PairComparison,
    ScoreComparison,
)
from benchwright.formats import count_with_noun, format_interval, number_text
from benchwright.reports.comparison.sentences import (
    CellText,
    ExternalText,
    Line,
    all_tasks_verdict_lines,
    pair_note_lines,
    verdict_lines,
)
from benchwright.reports.comparison.tables import TableBlock

RunNamePair = tuple[str, str]

MAX_LISTED_TASKS = 3
"""Maximum number of tasks that a note names. If there are more, their number is given instead."""


def is_by_task(comparison: Comparison) -> bool:
    """Return True if a pair of the comparison covers several tasks. That is so when folders are compared."""
    return len(_by_names(comparison)) < len(comparison.pairs)


def printed_verdict_lines(comparison: Comparison) -> Iterator[Line]:
    """Yield the verdicts that are to be printed, one sentence each.

    For folders these are the verdict on all tasks together, the verdicts on scores that differ, and the number of
    scores without a difference.
    """
    lines = list(verdict_lines(comparison))
    if not is_by_task(comparison):
        yield from lines
        return
    yield from all_tasks_verdict_lines(comparison)
    found = [score.verdict for pair in comparison.pairs for score in pair.scores]
    yield from (line for line, verdict in zip(lines, found, strict=True) if verdict in ("better", "worse"))
    others = sum(verdict not in ("better", "worse") for verdict in found)
    if others:
        tasks = count_with_noun(len({pair.task for pair in comparison.pairs if pair.scores}), "task")
        yield Line(
            "verdict",
            [f"No difference found by {others:,} of {count_with_noun(len(found), 'score')} of {tasks}."],
        )


def task_blocks(comparison: Comparison) -> Iterator[TableBlock]:
    """Yield a table for each pair of folders.

    It has a row for each task and score, and the last row is for all tasks together.
    """
    for names, pairs in _by_names(comparison).items():
        together = [one for one in comparison.together if (one.a, one.b) == names]
        yield _tasks(names, pairs, together, comparison.confidence)


def task_notes(comparison: Comparison) -> Iterator[Line]:
    """Yield the notes on all pairs.

    A note that concerns all tasks appears once. Any other note names its tasks.
    """
    for pairs in _by_names(comparison).values():
        found: dict[tuple[CellText, ...], list[str]] = {}
        for pair in pairs:
            for line in pair_note_lines(pair, several=False):
                found.setdefault(tuple(line.cells), []).append(pair.task)
        for cells, tasks in found.items():
            every = len(tasks) == sum(not pair.is_refused for pair in pairs)
            yield Line("note", [*([] if every else [_some(tasks), ": "]), *cells])
    for one in comparison.together:
        told = "All together: each task weighs the same, and it is one more test of Holm's family"
        yield Line("note", [told, *_left_out(one), "."])
    yield from (Line("note", [ExternalText(text), "."]) for text in comparison.notes)


def _some(tasks: Sequence[str]) -> CellText:
    distinct = list(dict.fromkeys(tasks))
    return (
        ExternalText(", ".join(distinct))
        if len(distinct) <= MAX_LISTED_TASKS
        else count_with_noun(len(distinct), "task")
    )


def _left_out(together: AllTasksComparison) -> list[CellText]:
    return [". Left out: ", ExternalText("; ".join(together.left_out))] if together.left_out else []


def _by_names(comparison: Comparison) -> dict[RunNamePair, list[PairComparison]]:
    found: dict[RunNamePair, list[PairComparison]] = {}
    for pair in comparison.pairs:
        found.setdefault((pair.a, pair.b), []).append(pair)
    return found


def _tasks(
    names: RunNamePair,
    pairs: Sequence[PairComparison],
    together: Sequence[AllTasksComparison],
    confidence: float,
) -> TableBlock:
    failed = any(score.errors_a or score.errors_b for pair in pairs for score in pair.scores)
    columns = ["Task", "score", *names, "difference", f"{confidence * 100:g} % interval", "Holm p"]
    columns += ["won/lost", "samples", *(["failed"] if failed else [])]
    rows = [_row(pair.task, score, failed) for pair in pairs for score in pair.scores]
    rows += [
        [ExternalText(pair.task), "not compared", *[""] * (len(columns) - 2)]
        for pair in pairs
        if not pair.scores
    ]
    rows += [_together(one, len(columns)) for one in together]
    return TableBlock("Tasks", columns, rows, left_columns=2)


def _row(task: str, score: ScoreComparison, failed: bool) -> list[CellText]:
    p_value = score.p_value if score.p_adjusted is None else score.p_adjusted
    paired = score.unpaired is None
    row: list[CellText] = [
        ExternalText(task),
        ExternalText(score.title),
        number_text(score.mean_a),
        number_text(score.mean_b),
        f"{score.difference:+.3f}",
        format_interval(score.low, score.high, "+.3f"),
        number_text(p_value, ".2g"),
        f"{score.wins:,}/{score.losses:,}" if paired else "–",
        f"{score.n:,}" if paired else f"{score.n_a:,} and {score.n_b:,}",
    ]
    return row + ([f"{score.errors_a:,} and {score.errors_b:,}"] if failed else [])


def _together(one: AllTasksComparison, width: int) -> list[CellText]:
    p_value = one.p_value if one.p_adjusted is None else one.p_adjusted
    row: list[CellText] = [
        "all together" if one.model is None else ExternalText(f"all together, {one.model}"),
        f"mean of {len(one.tasks)}",
        number_text(one.mean_a),
        number_text(one.mean_b),
        f"{one.difference:+.3f}",
        format_interval(one.low, one.high, "+.3f"),
        number_text(p_value, ".2g"),
        "",
        f"{one.n:,}",
    ]
    return row + [""] * (width - len(row))
