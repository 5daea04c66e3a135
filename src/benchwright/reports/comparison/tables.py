"""The tables of a comparison. Every output format renders these tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchwright.analysis.comparison.records import (
    ComparedRun,
    Comparison,
    DataDifferences,
    LatencyComparison,
    PairComparison,
    PolicyResult,
    ScoreChange,
    ScoreComparison,
)
from benchwright.analysis.quality_and_speed.records import SpeedMetric
from benchwright.formats import count_with_noun, format_interval, format_milliseconds, number_text
from benchwright.reports.comparison.sentences import CellText, ExternalText, p_value_text, policy_text
from benchwright.text import truncate

MAX_ANSWER_LENGTH = 60
METRIC_NAMES: dict[SpeedMetric, str] = {"latency": "latency", "ttft": "TTFT"}
MAX_CHANGED_SAMPLES = 20
"""Maximum number of changed samples in a table. If possible, at least half of them are losses.

`--json` has all of them.
"""


class TableBlock(NamedTuple):
    """A table. Its first `left_columns` columns contain words, and are left-aligned.

    All other columns contain figures, and are right-aligned.
    """

    title: str
    columns: Sequence[CellText]
    rows: Sequence[Sequence[CellText]]
    left_columns: int = 1
    note: str = ""


METHOD_TEXTS = {
    "agresti-min": "Agresti-Min interval",
    "t": "paired t interval over samples",
    "cluster-t": "paired t interval over groups",
    "score": "Newcombe interval, unpaired",
    "welch": "Welch interval, unpaired",
    "cluster-welch": "Welch interval over groups, unpaired",
    "none": "no interval: the data does not support one",
}

TEST_NAMES = {
    "mcnemar-mid-p": "McNemar mid-p test",
    "t": "paired t test",
    "cluster-t": "paired t test over groups",
    "sign": "sign test",
    "score": "score test",
    "welch": "Welch test",
    "cluster-welch": "Welch test over groups",
    "none": "no test",
}


def comparison_blocks(comparison: Comparison) -> Iterator[TableBlock]:
    """Yield the tables of a comparison that are not empty."""
    yield _runs(comparison.runs)
    scored = [pair for pair in comparison.pairs if pair.scores]
    if scored:
        yield _scores(scored)
        if any(score.counted for pair in scored for score in pair.scores):
            yield _sensitivity(scored)
    timed = [pair for pair in comparison.pairs if pair.latencies]
    if timed:
        yield _latencies(timed, comparison.confidence)
    for pair in scored:
        if pair.data is not None and pair.data.samples:
            yield _data(pair, pair.data)
        yield from (_changes(pair, score) for score in pair.scores if score.changes)
    if not comparison.pairs and comparison.metrics:
        rows: list[list[CellText]] = [
            [ExternalText(name), number_text(value, ".6g")] for name, value in comparison.metrics.items()
        ]
        yield TableBlock("Metrics", ["name", "value"], rows)


def _runs(runs: Sequence[ComparedRun]) -> TableBlock:
    lettered = any(run.letter != run.title for run in runs)
    columns = ["Run", *(["model"] if lettered else [])]
    columns += ["task", "what", "samples", "trials", "failed", "no answer"]
    rows: list[list[CellText]] = [
        [
            run.letter,
            *([ExternalText(run.title)] if lettered else []),
            ExternalText(run.task),
            ExternalText(_what(run)),
            f"{run.samples:,}",
            f"{run.trials:,}",
            f"{run.errors:,}",
            f"{run.no_answer:,}",
        ]
        for run in runs
    ]
    return TableBlock("Runs", columns, rows, left_columns=4 if lettered else 3)


def _what(run: ComparedRun) -> str:
    name = run.reference if run.source != "journal" or run.run is None else run.run
    return f"{name}@{run.slot}" if run.slot not in (None, "primary") else name


def _scores(pairs: Sequence[PairComparison]) -> TableBlock:
    corrected = any(score.p_adjusted is not None for pair in pairs for score in pair.scores)
    columns = ["Scores", "score", "first", "second", "difference", "interval", "p"]
    columns += [*(["Holm p"] if corrected else []), "won/lost/tied", "samples"]
    rows = [
        _score_row(run_names_of_pair(pair, pairs), score, corrected)
        for pair in pairs
        for score in pair.scores
    ]
    return TableBlock("Scores", columns, rows, left_columns=2, note="; ".join(describe_methods(pairs)))


def _score_row(sides: CellText, score: ScoreComparison, corrected: bool) -> list[CellText]:
    paired = score.unpaired is None
    return [
        sides,
        ExternalText(score.title),
        f"{score.mean_a:.4f}",
        f"{score.mean_b:.4f}",
        f"{score.difference:+.4f}",
        format_interval(score.low, score.high, "+.4f"),
        number_text(score.p_value, ".2g"),
        *([number_text(score.p_adjusted, ".2g")] if corrected else []),
        f"{score.wins:,}/{score.losses:,}/{score.ties:,}" if paired else "–",
        f"{score.n:,}" if paired else f"{score.n_a:,} and {score.n_b:,}",
    ]


def run_names_of_pair(pair: PairComparison, pairs: Sequence[PairComparison]) -> CellText:
    """Return the names of the two compared runs, with their task if the pairs in `pairs` cover several tasks."""
    sides = f"{pair.b} − {pair.a}"
    return ExternalText(f"{pair.task}: {sides}") if len({one.task for one in pairs}) > 1 else sides


def describe_methods(pairs: Sequence[PairComparison]) -> list[str]:
    """Describe how each score's interval and test were computed, and how samples were matched.

    Each text occurs once.
    """
    told = []
    for pair in pairs:
        for score in pair.scores:
            text = f"{METHOD_TEXTS.get(score.method, score.method)} at {score.confidence * 100:g} %, "
            text += TEST_NAMES.get(score.test, score.test)
            if score.n_groups is not None:
                text += f", {count_with_noun(score.n_groups, 'group')}"
            if score.p_exact is not None:
                text += f" (exact: {p_value_text(score.p_exact)})"
            told.append(f"{pair.b} − {pair.a}: {text}" if len(pairs) > 1 else text)
        if pair.alignment:
            told.append(f"aligned {pair.alignment}")
    return list(dict.fromkeys(told))


def _sensitivity(pairs: Sequence[PairComparison]) -> TableBlock:
    rows: list[list[CellText]] = []
    for pair in pairs:
        for score in pair.scores:
            if score.counted:
                usual = PolicyResult("usual", score.n, score.difference, score.verdict, score.low, score.high)
                rows += [
                    [run_names_of_pair(pair, pairs), *_counted_row(pair, score, one)]
                    for one in (usual, *score.counted)
                ]
    columns = ["Without a score", "score", "counted", "verdict", "difference", "interval", "samples"]
    note = (
        "failed: provider, agent or grader; no answer: the model answered, but no answer could be extracted"
    )
    return TableBlock("Trials without a score", columns, rows, left_columns=4, note=note)


def _counted_row(pair: PairComparison, score: ScoreComparison, one: PolicyResult) -> list[CellText]:
    n = f"{one.n:,}" if one.n else "–"
    return [
        ExternalText(score.title),
        policy_text(one, pair),
        one.verdict,
        f"{one.difference:+.4f}",
        format_interval(one.low, one.high, "+.4f"),
        n,
    ]


def _latencies(pairs: Sequence[PairComparison], confidence: float) -> TableBlock:
    rows: list[list[CellText]] = [
        [run_names_of_pair(pair, pairs), f"{METRIC_NAMES[one.metric]} p{one.q * 100:g}", *_times(one)]
        for pair in pairs
        for one in pair.latencies
    ]
    columns = [
        "Speed, ms",
        "what",
        "first",
        "second",
        "difference",
        f"{confidence * 100:g} % interval",
        "requests",
    ]
    note = "order-statistic intervals; they hold for these two runs, not for how runs of one server vary"
    return TableBlock("Speed, ms", columns, rows, left_columns=2, note=note)


def _times(one: LatencyComparison) -> list[CellText]:
    return [
        format_milliseconds(one.a),
        format_milliseconds(one.b),
        signed_milliseconds(one.difference),
        latency_interval_text(one),
        f"{one.n_a:,} and {one.n_b:,}",
    ]


def latency_interval_text(one: LatencyComparison) -> str:
    """Format the interval of a difference in times, in ms. A dash stands for an unknown end of the interval."""
    low, high = ("–" if end is None else signed_milliseconds(end) for end in (one.low, one.high))
    return "–" if low == high == "–" else f"[{low}, {high}]"


def signed_milliseconds(seconds: float) -> str:
    """Format a difference in times (given in seconds) in ms, with its sign."""
    text = format_milliseconds(abs(seconds))
    return f"{'-' if seconds < 0 else '+'}{text}"


def _data(pair: PairComparison, data: DataDifferences) -> TableBlock:
    """Build a table of the samples whose expected answers or prompts differ between the two runs."""
    shown = data.samples[:MAX_CHANGED_SAMPLES]
    more = len(data.samples) - len(shown)
    rows: list[list[CellText]] = [
        [ExternalText(one.sample), one.what, _answer(one.a), _answer(one.b)] for one in shown
    ]
    columns = ["Other data", "what", pair.a, pair.b]
    return TableBlock(
        "Other data", columns, rows, left_columns=4, note=f"{more:,} more in --json" if more else ""
    )


def _changes(pair: PairComparison, score: ScoreComparison) -> TableBlock:
    won, lost = score.won_and_lost_changes()
    some = max(MAX_CHANGED_SAMPLES // 2, MAX_CHANGED_SAMPLES - len(won))
    shown = (lost[:some] + won)[:MAX_CHANGED_SAMPLES]
    more = len(score.changes) - len(shown)
    title = f"Changed from {pair.a} to {pair.b}: {len(won):,} won, {len(lost):,} lost"
    columns = ["Changed", "score", f"answer of {pair.a}", f"answer of {pair.b}", "repeat", pair.a, pair.b]
    rows = [_change_row(score.title, change) for change in shown]
    note = f"{len(won):,} won, {len(lost):,} lost" + (f"; {more:,} more in --json" if more else "")
    return TableBlock(title, columns, rows, left_columns=4, note=note)


def _change_row(score: str, change: ScoreChange) -> list[CellText]:
    return [
        ExternalText(change.sample),
        ExternalText(score),
        _answer(change.answer_a),
        _answer(change.answer_b),
        str(change.repeat),
        f"{change.a:g}",
        f"{change.b:g}",
    ]


def _answer(text: str | None) -> CellText:
    if text is None:
        return "–"
    return ExternalText(truncate(" ".join(text.split()), MAX_ANSWER_LENGTH))
