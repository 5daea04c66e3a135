"""The tables of a measurement under load, the same for every form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter

from benchwright.analysis.joint.records import OutcomeCounts
from benchwright.analysis.load.records import Goodput, LevelResult, LoadReport, Quantile, Spread
from benchwright.formats import milliseconds, number
from benchwright.reports.comparison.tables import Block
from benchwright.reports.comparison.words import Cell, Foreign

INTERVALS = "Below each percentile its 95 % interval; ? is an end for which there are too few requests."


def blocks(report: LoadReport) -> Iterator[Block]:
    """The tables: what was served, how well, how long it took, what the server said."""
    if not report.levels:
        return
    yield _served(report)
    if report.objectives or any(result.judged is not None for result in report.levels):
        yield _quality(report)
    yield _times(report)
    if any(result.server is not None for result in report.levels):
        yield _server(report)


def models_block(reports: Sequence[LoadReport]) -> Block:
    """Several models, level by level."""
    found = [(result.level.height, report.model, result) for report in reports for result in report.levels]
    aimed = any(report.objectives for report in reports)
    scored = any(result.judged is not None for _, _, result in found)
    columns: list[Cell] = [
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
    rows: list[list[Cell]] = []
    for _, model, result in sorted(found, key=itemgetter(0)):
        times = [(result.ttft, "p50"), (result.latency, "p50"), (result.latency, "p99")]
        row: list[Cell] = [result.level.name + _marks(result), Foreign(model), f"{result.achieved:,.2f}"]
        row += [f"{result.failed:,}", *(_time(spread, name) for spread, name in times)]
        row += _goodput(result.goodput)[:1] if aimed else []
        row += _accuracy(result.judged)[:1] if scored else []
        rows.append(row)
    return Block("Models", columns, rows, left=2, note="Times in milliseconds.")


def _time(spread: Spread | None, quantile: str) -> str:
    return milliseconds(None if spread is None else getattr(spread, quantile).value)


def _marks(result: LevelResult) -> str:
    return ("!" if result.client_bound else "") + ("*" if result.warm_cache else "")


def _loop(report: LoadReport) -> str:
    return "rate" if report.levels[0].level.open else "in flight"


def _served(report: LoadReport) -> Block:
    is_open = report.levels[0].level.open
    columns = [
        _loop(report),
        *(["offered/s"] if is_open else []),
        "requests",
        "failed",
        "answers/s",
        "tokens/s",
    ]
    rows: list[list[Cell]] = []
    for result in report.levels:
        name = result.level.name + _marks(result)
        offered = [number(result.offered, ".2f")] if is_open else []
        served = [f"{result.achieved:,.2f}", f"{result.output_tokens:,.0f}"]
        rows.append([name, *offered, f"{result.counted:,}", f"{result.failed:,}", *served])
    return Block("Served", columns, rows, left=0)


def _quality(report: LoadReport) -> Block:
    scored = any(result.judged is not None for result in report.levels)
    columns = [_loop(report)]
    columns += ["goodput/s", "met", "95 % interval"] if report.objectives else []
    columns += ["accuracy", "95 % interval", "correct"] if scored else []
    rows = []
    for result in report.levels:
        good = _goodput(result.goodput) if report.objectives else []
        rows.append([result.level.name, *good, *(_accuracy(result.judged) if scored else [])])
    return Block("Quality", columns, rows, left=0)


def _goodput(good: Goodput | None) -> list[Cell]:
    if good is None:
        return ["–"] * 3
    interval = f"[{good.low * 100:.1f}, {good.high * 100:.1f}]"
    return [f"{good.rate:,.2f}", f"{good.share * 100:.1f} %", interval]


def _accuracy(judged: OutcomeCounts | None) -> list[Cell]:
    if judged is None or judged.accuracy is None:
        return ["–"] * 3
    interval = "–"
    if judged.low is not None and judged.high is not None:
        interval = f"[{judged.low:.3f}, {judged.high:.3f}]"
    return [f"{judged.accuracy:.3f}", interval, f"{judged.correct:,}/{judged.n:,}"]


TTFT = ("p50", "p90", "p99")
LATENCY = ("p50", "p99")


def _times(report: LoadReport) -> Block:
    timed = any(result.ttft is not None for result in report.levels)
    columns = [_loop(report)]
    columns += ["TTFT p50", "p90", "p99"] if timed else []
    columns += ["latency p50", "p99", *(["per token"] if timed else [])]
    rows: list[list[Cell]] = []
    for result in report.levels:
        shown = [(result.ttft, name) for name in TTFT] if timed else []
        shown += [(result.latency, name) for name in LATENCY]
        quantiles = [None if spread is None else getattr(spread, name) for spread, name in shown]
        itl = [milliseconds(result.itl.p50.value if result.itl else None)] if timed else []
        rows.append(
            [result.level.name, *(milliseconds(one.value if one else None) for one in quantiles), *itl]
        )
        rows.append(["", *(interval_text(one) if one else "" for one in quantiles), *([""] if timed else [])])
    counted = "Milliseconds, from the intended start. " if report.levels[0].level.open else "Milliseconds. "
    return Block("Times", columns, rows, left=0, note=counted + INTERVALS)


def interval_text(quantile: Quantile) -> str:
    """The interval of a percentile, in ms."""
    low, high = ("?" if end is None else milliseconds(end) for end in (quantile.low, quantile.high))
    return f"{low}–{high}"


def _server(report: LoadReport) -> Block:
    columns = ["server's metrics", "running", "most", "waiting", "most", "cache, most", "preempted"]
    rows: list[list[Cell]] = []
    for result in report.levels:
        server = result.server
        if server is None:
            rows.append([result.level.name, *["–"] * 6])
            continue
        cache = None if server.cache_most is None else server.cache_most * 100
        rows.append(
            [
                result.level.name,
                number(server.running_mean, ".1f"),
                number(server.running_most, ".0f"),
                number(server.waiting_mean, ".1f"),
                number(server.waiting_most, ".0f"),
                "–" if cache is None else f"{cache:.0f} %",
                number(server.preempted, ".0f"),
            ]
        )
    return Block("Server", columns, rows, left=0)
