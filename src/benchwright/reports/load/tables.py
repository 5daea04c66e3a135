"""The tables of a load measurement. Every output format renders these tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter

from benchwright.analysis.load.comparison.figures import COMPARED_FIGURES, level_figures
from benchwright.analysis.load.figure_records import FigureEstimate, Goodput, TimeDistribution
from benchwright.analysis.load.records import LevelResult, LoadReport
from benchwright.analysis.quality_and_speed.records import OutcomeCounts
from benchwright.formats import count_with_noun, format_interval, format_milliseconds, number_text
from benchwright.reports.comparison.sentences import CellText, ExternalText
from benchwright.reports.comparison.tables import TableBlock
from benchwright.reports.load.sentences import objectives_text
from benchwright.statistic import is_number

INTERVAL_HEADING = "95 % interval"
INTERVALS_NOTE = "Below each percentile its 95 % interval; ? is an end for which there are too few requests."


def load_blocks(report: LoadReport) -> Iterator[TableBlock]:
    """Yield the tables: rates, quality, objectives, cost, energy, times, streams, server metrics, repeats.

    Tables without data are left out.
    """
    if not report.levels:
        return
    yield _served(report)
    if report.objectives or any(result.judged is not None for result in report.levels):
        yield _quality(report)
    if len(report.objectives) > 1:
        yield _attained(report)
    if any(result.cost is not None for result in report.levels):
        yield _costs(report)
    if any(result.energy is not None for result in report.levels):
        yield _energy(report)
    yield _times(report)
    if any(result.gaps is not None or result.connect is not None for result in report.levels):
        yield _stream(report)
    if any(result.server is not None for result in report.levels):
        yield _server(report)
    if any(result.repeat > 1 for result in report.levels):
        yield _repeats(report)


def models_block(reports: Sequence[LoadReport]) -> TableBlock:
    """Build a table that compares several models, level by level."""
    found = [
        (result.level.numeric_load, report.model, result) for report in reports for result in report.levels
    ]
    aimed = any(report.objectives for report in reports)
    scored = any(result.judged is not None for _, _, result in found)
    columns: list[CellText] = [
        _loop(reports[0]),
        "model",
        "answers/s",
        "failed",
        "TTFT p50",
        "latency p50",
        "p99",
    ]
    columns += ["goodput/s"] if aimed else []
    columns += ["accuracy"] if scored else []
    rows: list[list[CellText]] = []
    for _, model, result in sorted(found, key=itemgetter(0)):
        times = [(result.ttft, "p50"), (result.latency, "p50"), (result.latency, "p99")]
        row: list[CellText] = [
            _name(result) + _marks(result),
            ExternalText(model),
            rate_text(result.achieved),
        ]
        row += [f"{result.failed:,}", *(_time(spread, name) for spread, name in times)]
        row += _goodput(result.goodput)[:1] if aimed else []
        row += _accuracy(result.judged)[:1] if scored else []
        rows.append(row)
    return TableBlock("Models", columns, rows, left_columns=2, note="Times in milliseconds.")


REPEAT_TABLE_FIGURES = ("achieved", "ttft_p50", "ttft_p99", "latency_p50", "latency_p99")


def _repeats(report: LoadReport) -> TableBlock:
    """Build a table of the figures of each level over all its repeats."""
    columns = [
        _loop(report),
        "runs",
        *(COMPARED_FIGURES[name].readable_name for name in REPEAT_TABLE_FIGURES),
    ]
    rows: list[list[CellText]] = []
    for level in level_figures(report).values():
        known = [(COMPARED_FIGURES[name], level.figures.get(name)) for name in REPEAT_TABLE_FIGURES]
        values = [
            format_milliseconds(None if one is None else one.value) if measure.is_time else rate_text(one)
            for measure, one in known
        ]
        intervals = [
            "" if one is None else interval_text(one) if measure.is_time else _rate_interval(one)
            for measure, one in known
        ]
        rows += [[level.level.name, str(len(level.results)), *values], ["", "", *intervals]]
    note = "Over all runs of a level, times in ms; what changes from run to run is in the intervals."
    return TableBlock("Repeats", columns, rows, left_columns=0, note=note)


def _time(spread: TimeDistribution | None, quantile: str) -> str:
    return format_milliseconds(None if spread is None else getattr(spread, quantile).value)


def _name(result: LevelResult) -> str:
    """Return the name of a level. If it is not the first repeat of the level, the number of the repeat follows."""
    return result.level.name + (f" #{result.repeat}" if result.repeat > 1 else "")


def _marks(result: LevelResult) -> str:
    return ("!" if result.client_bound else "") + ("*" if result.warm_cache else "")


def _loop(report: LoadReport) -> str:
    return "rate" if report.levels[0].level.is_open_loop else "in flight"


def _served(report: LoadReport) -> TableBlock:
    is_open = report.levels[0].level.is_open_loop
    columns = [
        _loop(report),
        *(["offered/s"] if is_open else []),
        "requests",
        "failed",
        "answers/s",
        "tokens/s",
        "window",
    ]
    rows: list[list[CellText]] = []
    for result in report.levels:
        name = _name(result) + _marks(result)
        offered = [number_text(result.offered, ".2f")] if is_open else []
        served = [rate_text(result.achieved), _tokens(result), _window(result)]
        rows.append([name, *offered, f"{result.counted:,}", f"{result.failed:,}", *served])
        below: list[CellText] = [
            _rate_interval(result.achieved),
            _rate_interval(result.output_tokens, "{:,.0f}".format),
            "",
        ]
        rows.append([*[""] * (len(columns) - len(below)), *below])
    return TableBlock("Served", columns, rows, left_columns=0, note=_served_note(report.levels))


def _served_note(levels: Sequence[LevelResult]) -> str:
    unsteady = " ~ before it: not steady." if any(one.counted and not one.steady for one in levels) else ""
    return f"Below each rate its 95 % interval. Window: the part of the level that counts.{unsteady}"


def rate_text(rate: FigureEstimate | None) -> str:
    """Format a rate per second. Return a dash if there was no steady rate."""
    return "–" if rate is None else _rate(rate.value)


def _rate(value: float) -> str:
    return f"{value:,.{2 if value < 100 else 1 if value < 1000 else 0}f}"


def _rate_interval(rate: FigureEstimate | None, text: Callable[[float], str] = _rate) -> str:
    if rate is None or rate.low is None or rate.high is None:
        return ""
    return f"{text(rate.low)}–{text(rate.high)}"


def _window(result: LevelResult) -> str:
    """Format the time window in which requests count.

    A `~` marks a window in which the load was not in a steady state.
    """
    if not result.counted:
        return "–"
    end = result.begin + result.seconds
    digits = 1 if end < 100 else 0
    return f"{'' if result.steady else '~'}{result.begin:.{digits}f}–{end:.{digits}f} s"


def _tokens(result: LevelResult) -> str:
    """Format tokens per second. A `~` marks a rate if the server did not report tokens for every answer."""
    if result.output_tokens is None:
        return "–"
    return f"{'~' if result.tokens_told < 1 else ''}{result.output_tokens.value:,.0f}"


def _quality(report: LoadReport) -> TableBlock:
    scored = any(result.judged is not None for result in report.levels)
    columns = [_loop(report)]
    columns += ["goodput/s", "met", INTERVAL_HEADING] if report.objectives else []
    columns += ["accuracy", INTERVAL_HEADING, "correct"] if scored else []
    rows = []
    for result in report.levels:
        good = _goodput(result.goodput) if report.objectives else []
        rows.append([_name(result), *good, *(_accuracy(result.judged) if scored else [])])
    return TableBlock("Quality", columns, rows, left_columns=0)


def _attained(report: LoadReport) -> TableBlock:
    """Build a table of the shares of requests that met each objective (such as a maximum TTFT)."""
    columns = [_loop(report), *(objectives_text([one]) for one in report.objectives)]
    rows: list[list[CellText]] = [
        [
            _name(result),
            *(
                "–" if result.goodput is None else f"{result.goodput.attained[one.measure] * 100:.1f} %"
                for one in report.objectives
            ),
        ]
        for result in report.levels
    ]
    return TableBlock("Objectives", columns, rows, left_columns=0)


def _costs(report: LoadReport) -> TableBlock:
    columns = [_loop(report), "cost/hour", "per million tokens", "of answers only", "per correct answer"]
    rows: list[list[CellText]] = []
    for result in report.levels:
        names = ("hour", "tokens", "output_tokens", "correct")
        amounts = [None if result.cost is None else getattr(result.cost, name) for name in names]
        rows.append([_name(result), *(number_text(amount, ".4g") for amount in amounts)])
    return TableBlock("Cost", columns, rows, left_columns=0, note="In the currency of --price.")


def _energy(report: LoadReport) -> TableBlock:
    columns = [_loop(report), "watts", "J/request", "J/token", "of answers only", "J/correct"]
    rows: list[list[CellText]] = []
    for result in report.levels:
        names = ("watts", "request", "token", "output_token", "correct")
        amounts = [None if result.energy is None else getattr(result.energy, name) for name in names]
        rows.append([_name(result), *(number_text(amount, ".4g") for amount in amounts)])
    devices = max(result.energy.devices for result in report.levels if result.energy is not None)
    return TableBlock(
        "Energy",
        columns,
        rows,
        left_columns=0,
        note=f"Of {count_with_noun(devices, 'device')}, by their own metrics.",
    )


def _goodput(good: Goodput | None) -> list[CellText]:
    if good is None:
        return ["–"] * 3
    interval = f"[{good.low * 100:.1f}, {good.high * 100:.1f}]"
    return [rate_text(good.rate), f"{good.share * 100:.1f} %", interval]


def _accuracy(judged: OutcomeCounts | None) -> list[CellText]:
    if judged is None or judged.accuracy is None:
        return ["–"] * 3
    correct = f"{judged.correct:,}/{judged.n:,}" if is_number(judged.accuracy) else "–"
    return [number_text(judged.accuracy), format_interval(judged.low, judged.high), correct]


TTFT_PERCENTILES = ("p50", "p90", "p99")
LATENCY_PERCENTILES = ("p50", "p99")


def _times(report: LoadReport) -> TableBlock:
    timed = any(result.ttft is not None for result in report.levels)
    columns = [_loop(report)]
    columns += ["TTFT p50", "p90", "p99"] if timed else []
    columns += ["latency p50", "p99", *(["per token"] if timed else [])]
    rows: list[list[CellText]] = []
    for result in report.levels:
        shown = [(result.ttft, name) for name in TTFT_PERCENTILES] if timed else []
        shown += [(result.latency, name) for name in LATENCY_PERCENTILES]
        quantiles = [None if spread is None else getattr(spread, name) for spread, name in shown]
        itl = [format_milliseconds(result.itl.p50.value if result.itl else None)] if timed else []
        rows.append(
            [_name(result), *(format_milliseconds(one.value if one else None) for one in quantiles), *itl]
        )
        rows.append(["", *(interval_text(one) if one else "" for one in quantiles), *([""] if timed else [])])
    counted = (
        "Milliseconds, from the intended start. " if report.levels[0].level.is_open_loop else "Milliseconds. "
    )
    return TableBlock("Times", columns, rows, left_columns=0, note=counted + INTERVALS_NOTE)


def _stream(report: LoadReport) -> TableBlock:
    """Build a table of stream figures: gaps, tokens per chunk, first answer token, connections."""
    answer = any(result.ttfa is not None for result in report.levels)
    columns = [_loop(report), "gaps p50", "p99", "longest", "tokens/chunk"]
    columns += [*(["first answer token"] if answer else []), "connections", "to connect"]
    rows: list[list[CellText]] = []
    for result in report.levels:
        gaps, connect = result.gaps, result.connect
        times = [None] * 3 if gaps is None else [gaps.p50, gaps.p99, gaps.longest]
        row: list[CellText] = [_name(result), *(format_milliseconds(time) for time in times)]
        row.append(number_text(None if gaps is None else gaps.chunk_tokens, ".2f"))
        row += [_time(result.ttfa or result.ttft, "p50")] if answer else []
        row += [f"{connect.n:,}" if connect else "0", _time(connect, "p50")]
        rows.append(row)
    note = "Milliseconds. Gaps: between chunks with tokens, of all answers together. The other times are medians."
    return TableBlock("Streams", columns, rows, left_columns=0, note=note)


def interval_text(estimate: FigureEstimate) -> str:
    """Format the interval of a percentile, in ms."""
    low, high = ("?" if end is None else format_milliseconds(end) for end in (estimate.low, estimate.high))
    return f"{low}–{high}"


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.0f} %"


def _server(report: LoadReport) -> TableBlock:
    columns = ["server's metrics", "running", "most", "waiting", "most", "cache, most", "cached", "preempted"]
    drafts = any(result.server is not None and result.server.accepted is not None for result in report.levels)
    columns += ["drafts accepted"] if drafts else []
    rows: list[list[CellText]] = []
    for result in report.levels:
        server = result.server
        if server is None:
            rows.append([_name(result), *["–"] * (len(columns) - 1)])
            continue
        rows.append(
            [
                _name(result),
                number_text(server.running_mean, ".1f"),
                number_text(server.running_most, ".0f"),
                number_text(server.waiting_mean, ".1f"),
                number_text(server.waiting_most, ".0f"),
                _share(server.cache_most),
                _share(server.cached),
                number_text(server.preempted, ".0f"),
                *([_share(server.accepted)] if drafts else []),
            ]
        )
    return TableBlock("Server", columns, rows, left_columns=0)
