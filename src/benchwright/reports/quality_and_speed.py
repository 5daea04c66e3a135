"""Quality and speed of runs considered together, as tables and sentences for every output format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.analysis.quality_and_speed.records import (
    ConcurrencyRow,
    ConcurrencyTable,
    CorrectAnswerRate,
    JointView,
    OutcomeCounts,
    SpeedAccuracy,
    SpeedBucket,
    SpeedMetric,
    Trend,
)
from benchwright.formats import (
    count_with_noun,
    format_duration,
    format_interval,
    format_milliseconds,
    number_text,
)
from benchwright.reports.comparison.sentences import CellText, ExternalText, Line, p_value_text
from benchwright.reports.comparison.tables import METRIC_NAMES, TableBlock
from benchwright.reports.comparison.tables import TEST_NAMES as PAIRED_TESTS
from benchwright.statistic import NoScore

TEST_NAMES = {"mann-whitney": "Mann-Whitney test", "clustered-rank": "rank test over clusters"}
SPEED_QUARTER_NAMES = ("fastest", "second", "third", "fourth")
"""Names of the groups into which trials are divided by speed: four quarters.

If there are few trials, there are fewer groups, and only the first names are used.
"""
CAUSATION_NOTE = "an association is not a cause: harder questions take longer, too"


def quality_and_speed_blocks(views: Sequence[JointView]) -> Iterator[TableBlock]:
    """Yield a table of correct answers per second. Then yield a table of the accuracy of fast and slow trials."""
    rows = [row for view in views for row in _rates(view)]
    if rows:
        columns = ["Correct answers", "per", "rate", _interval_of(views), "correct", "in"]
        note = "; ".join(f"{_told(view, views)}{outcome_counts_text(view.judged)}" for view in views)
        yield TableBlock("Correct answers", columns, rows, left_columns=2, note=note)
    timed = [view for view in views if view.by_speed]
    if timed:
        yield _fast_and_slow(timed, views)


def quality_and_speed_lines(views: Sequence[JointView]) -> Iterator[Line]:
    """Yield the warnings and notes on the tables of quality and speed."""
    invalid = [_named(view) for view in views if view.timings_valid is False]
    if invalid:
        told = "the client was too busy, so the speed figures cannot be trusted."
        yield Line("warning", [f"TIMINGS INVALID of {', '.join(invalid)}: {told}"])
    for view in views:
        if view.judged.reused:
            told = f"{count_with_noun(view.judged.reused, 'trial')} of an earlier run left out of quality and speed."
            yield Line("note", [f"{_told(view, views)}{told}"])
        yield from (Line("note", [f"{_told(view, views)}{text}."]) for text in view.notes)


def _named(view: JointView) -> str:
    return view.name


def _told(view: JointView, views: Sequence[JointView]) -> str:
    simulated = " (simulated)" if view.simulated else ""
    return f"{_named(view)}{simulated}: " if len(views) > 1 or view.letter else ""


def _interval_of(views: Sequence[JointView]) -> str:
    return f"{views[0].confidence * 100:g} % interval"


def outcome_counts_text(judged: OutcomeCounts) -> str:
    """Describe how many trials were graded, were unanswered, failed, or were reused."""
    if isinstance(judged.accuracy, NoScore):
        return judged.accuracy.brief
    told = f"{judged.correct:,} correct of {judged.n:,} graded"
    if judged.no_answer:
        told += f" ({judged.no_answer:,} without an answer, counted wrong)"
    told += f", {judged.failed:,} failed and left out of the accuracy" if judged.failed else ", none failed"
    return told + (f", {judged.reused:,} reused and left out" if judged.reused else "")


def _rates(view: JointView) -> Iterator[list[CellText]]:
    for name, rate, unit in (
        ("second", view.correct_per_second, "with trials running"),
        ("1,000 completion tokens", view.correct_per_1000_completion_tokens, "completion tokens"),
        ("1,000 tokens", view.correct_per_1000_tokens, "prompt and completion tokens"),
    ):
        if rate is not None:
            amount = (
                format_duration(rate.per) if rate is view.correct_per_second else f"{rate.per * 1000:,.0f}"
            )
            value = number_text(rate.value, ".4g")
            yield [_named(view), name, value, rate_interval(rate), f"{rate.correct:,}", f"{amount} {unit}"]


def rate_interval(rate: CorrectAnswerRate) -> str:
    """Format the interval of a rate. Return a dash if there is no interval."""
    return format_interval(rate.low, rate.high, ".4g")


def _fast_and_slow(timed: Sequence[JointView], views: Sequence[JointView]) -> TableBlock:
    metrics = [
        name
        for name in METRIC_NAMES
        if any(speed.metric == name for view in timed for speed in view.by_speed)
    ]
    columns = ["Fast and slow", "quarter"]
    for metric in metrics:
        columns += [f"{METRIC_NAMES[metric]}, ms", "correct", "accuracy", _interval_of(views)]
    told = [_told(view, views) + association_text(speed) for view in timed for speed in view.by_speed]
    rows = [row for view in timed for row in _quarters(view, metrics)]
    return TableBlock(
        "Fast and slow", columns, rows, left_columns=2, note=".\n".join([*told, CAUSATION_NOTE])
    )


def _quarters(view: JointView, metrics: Sequence[SpeedMetric]) -> Iterator[list[CellText]]:
    buckets = {speed.metric: speed.buckets for speed in view.by_speed}
    for place in range(max(len(found) for found in buckets.values())):
        row: list[CellText] = [_named(view), SPEED_QUARTER_NAMES[place]]
        for metric in metrics:
            found = buckets.get(metric, [])
            row += _bucket(found[place]) if place < len(found) else ["–"] * 4
        yield row


def _bucket(bucket: SpeedBucket) -> list[CellText]:
    return [
        f"{format_milliseconds(bucket.fastest)} to {format_milliseconds(bucket.slowest)}",
        f"{bucket.correct:,}/{bucket.n:,}",
        f"{bucket.accuracy:.3f}",
        format_interval(bucket.low, bucket.high),
    ]


def association_text(speed: SpeedAccuracy) -> str:
    """Describe whether wrong answers were slower than correct ones. The result of the test is included."""
    name = METRIC_NAMES[speed.metric]
    left_out = (
        f", {count_with_noun(speed.untimed, 'graded trial')} without a time left out" if speed.untimed else ""
    )
    if speed.wrong_slower is None:
        kind = "wrong" if speed.correct == 0 else "correct"
        return f"by {name} nothing to compare: all {speed.n:,} answers are {kind}{left_out}"
    p_value = "no test" if speed.p_value is None else p_value_text(speed.p_value)
    test = f", {TEST_NAMES[speed.test]}" if speed.test in TEST_NAMES else ""
    return (
        f"by {name} a wrong answer was slower than a correct one in {speed.wrong_slower * 100:.0f} % of pairs "
        f"({p_value}{test}{left_out}){_within_text(speed)}"
    )


def _within_text(speed: SpeedAccuracy) -> str:
    within = speed.within
    if within is None:
        return ""
    p_value = "" if within.p_value is None else f" ({p_value_text(within.p_value)}, sign test)"
    return (
        ", and among repeats of one question the wrong ones were slower "
        f"{count_with_noun(within.wrong_slower, 'time')}, faster "
        f"{count_with_noun(within.wrong_faster, 'time')}{p_value}"
    )


def concurrency_blocks(tables: Sequence[ConcurrencyTable]) -> Iterator[TableBlock]:
    """Yield a table for each set of runs that differ only in concurrency."""
    for table in tables:
        interval = f"{table.confidence * 100:g} % interval"
        columns = [
            *("By concurrency", "run", "accuracy", interval, "correct", "failed", "requests/s"),
            *("TTFT p50, ms", "p99", "correct/s", interval),
        ]
        invalid = [row.letter for row in table.rows if row.timings_valid is False]
        note = f"TIMINGS INVALID of {', '.join(invalid)}: the client was too busy" if invalid else ""
        yield TableBlock("By concurrency", columns, [_concurrency_row(row) for row in table.rows], 2, note)


def _concurrency_row(row: ConcurrencyRow) -> list[CellText]:
    judged, rate = row.judged, row.correct_per_second
    return [
        str(row.concurrency),
        row.letter,
        number_text(judged.accuracy, ".4f"),
        format_interval(judged.low, judged.high),
        f"{judged.correct:,}/{judged.n:,}",
        f"{judged.failed:,}",
        number_text(row.requests_per_second, ".2f"),
        format_milliseconds(row.ttft_p50),
        format_milliseconds(row.ttft_p99),
        number_text(None if rate is None else rate.value, ".4g"),
        "–" if rate is None else rate_interval(rate),
    ]


def concurrency_lines(tables: Sequence[ConcurrencyTable]) -> Iterator[Line]:
    """Yield a sentence for each table: the trend of accuracy, and the concurrency with the most correct answers/s."""
    for table in tables:
        told: list[CellText] = (
            [ExternalText(table.model), " on ", ExternalText(table.task), ": "] if len(tables) > 1 else []
        )
        yield Line("verdict", [*told, concurrency_trend_text(table)])


def concurrency_trend_text(table: ConcurrencyTable) -> str:
    """Describe the trend of accuracy with concurrency, and name the concurrency with the most correct answers/s."""
    text = f"No trend with concurrency: {table.no_trend}."
    if table.trend is not None:
        text = _trend(table.trend, table.confidence)
    return text + _fastest(table.rows)


def _trend(trend: Trend, confidence: float) -> str:
    amount = f"{trend.per_doubling * 100:+.2f} points with each doubling of concurrency"
    if trend.low is not None and trend.high is not None:
        amount += f" ({confidence * 100:g} % {trend.low * 100:+.2f} to {trend.high * 100:+.2f})"
    samples = count_with_noun(trend.samples, "sample")
    how = f"{PAIRED_TESTS.get(trend.test, trend.test)}, {samples} at {trend.levels} concurrencies"
    if trend.p_value is None:
        return f"Whether accuracy changes with concurrency is undecided: {amount}, {how}."
    amount += f", {p_value_text(trend.p_value)} ({how})"
    if trend.p_value > 1 - confidence or trend.per_doubling == 0:
        return f"No trend of accuracy with concurrency found: {amount}."
    return f"Accuracy {'rises' if trend.per_doubling > 0 else 'falls'} with concurrency: {amount}."


def _fastest(rows: Sequence[ConcurrencyRow]) -> str:
    rated = [(row.correct_per_second.value, row) for row in rows if row.correct_per_second is not None]
    if len(rated) < len(rows) or any(row.timings_valid is False for row in rows):
        return ""
    value, best = max(rated, key=lambda one: one[0])
    return f" The most correct answers per second, {value:.4g}, came at concurrency {best.concurrency}."
