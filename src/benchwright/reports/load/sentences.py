"""The results of a load measurement as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.analysis.load.records import (
    LevelResult,
    LoadLevel,
    LoadReport,
    Objective,
    Saturation,
    SelfTest,
)
from benchwright.analysis.no_scores import remove_reason
from benchwright.formats import count_with_noun, format_duration, format_milliseconds
from benchwright.reports.comparison.sentences import ExternalText, Line
from benchwright.reports.quality_and_speed import concurrency_trend_text
from benchwright.runs.standstills import CAUSE_DESCRIPTIONS

MAX_FAILURE_REASONS = 2
"""Maximum number of reasons for failures that are shown for a level."""

MEASURE_NAMES = {"ttft": "TTFT", "latency": "latency", "itl": "time between tokens"}


def load_lines(report: LoadReport) -> Iterator[Line]:
    """Yield warnings. Then yield the verdict on saturation, and notes."""
    yield from _warnings(report)
    if report.saturation is not None:
        yield Line("verdict", [saturation_text(report.saturation, report)])
    for table in report.by_concurrency:
        yield Line("note", [concurrency_trend_text(table)])
    for result in report.levels:
        yield from _failures(result)
    yield from _as_others_count(report)
    if report.self_test is not None:
        yield Line("note", [self_test_text(report.self_test)])
    yield from (Line("note", [f"{note}."]) for note in report.notes)


def saturation_lines(reports: Sequence[LoadReport]) -> Iterator[Line]:
    """Yield, for each model that a sweep measured, the verdict on the load at which its server saturates."""
    for report in reports:
        if report.saturation is not None:
            yield Line(
                "verdict", [ExternalText(report.model), ": ", saturation_text(report.saturation, report)]
            )


def _warnings(report: LoadReport) -> Iterator[Line]:
    yield from _invalid(report)
    yield from (Line("warning", [_stood_still(result)]) for result in report.levels if result.stood_still)
    yield from _warm(report)
    yield from _energy(report)
    for result in report.levels:
        if result.limit_reached and result.late is not None:
            yield Line(
                "warning",
                [
                    f"At {result.level.name} all {result.in_flight:,} requests that may be in flight were, and "
                    f"{result.held_back:,} of {result.requests:,} were held back. They left up to "
                    f"{format_milliseconds(result.late.p99.value)} ms (p99) late, which is in their "
                    "latency. --max-in-flight "
                    "allows more."
                ],
            )
        if result.state != "finished":
            stopped = remove_reason(result.stop_reason or "", failure_reasons(result))
            why = f": {stopped}" if stopped else ""
            yield Line("warning", [f"{level_text(result.level)} is {result.state}", ExternalText(why), "."])
    if any(result.simulated for result in report.levels):
        yield Line("warning", ["SIMULATED: these answers are not from a model."])


def _invalid(report: LoadReport) -> Iterator[Line]:
    """Yield one warning about all levels at which our own process was too busy to measure correctly.

    If this client limited the measured rates, yield another warning.
    """
    bound = [result for result in report.levels if result.client_bound is not None]
    if bound:
        why = "; ".join(f"at {result.level.name} {result.client_bound}" for result in bound)
        yield Line("warning", [f"TIMINGS INVALID where marked !: {why}."])
    limited = [result.level.name for result in bound if result.client_limited]
    if limited:
        yield Line(
            "warning",
            [f"So are the rates at {', '.join(limited)}: the client was the limit, not the server."],
        )


def _stood_still(result: LevelResult) -> str:
    """Describe the standstills of our own process at a level. Say which of the level's requests count nevertheless."""
    told = " and ".join(
        f"for {format_duration(one.seconds)} after {one.at:.1f} s ({CAUSE_DESCRIPTIONS[one.cause]})"
        for one in result.stood_still
    )
    begin = f"At {result.level.name} this client stood still {told}."
    if not result.disturbed:
        return f"{begin} No request met it."
    counting = result.requests - result.disturbed
    if not counting:
        return f"{begin} All requests met it: there are no figures."
    which = f"{counting:,} of {result.requests:,} requests: those of the longest time without a standstill"
    return f"{begin} Its figures are those of {which}."


def _warm(report: LoadReport) -> Iterator[Line]:
    """Yield one warning about all levels whose prompts were already in the server's prefix cache."""
    warm = [
        f"at {result.level.name} {(result.unexpected_cached or 0.0) * 100:.0f} % of the prompt tokens"
        for result in report.levels
        if result.warm_cache
    ]
    if warm:
        yield Line(
            "warning",
            [
                f"WARM CACHE where marked *: {', '.join(warm)} came from the server's prefix cache, although this "
                "measurement had not sent them before. Prompts that the server does not know take longer to begin."
            ],
        )


def _energy(report: LoadReport) -> Iterator[Line]:
    """Yield one warning about all levels whose energy is unknown although devices were queried."""
    unknown = [
        f"at {result.level.name} {result.energy.invalid}"
        for result in report.levels
        if result.energy is not None and result.energy.invalid is not None
    ]
    if unknown:
        yield Line("warning", [f"NO ENERGY FIGURES: {'; '.join(unknown)}."])


def failure_reasons(result: LevelResult) -> list[str]:
    """Return the reasons for failed requests and failed graders of a level, as the report contains them."""
    failed, ungraded = (
        list(result.failures)[:MAX_FAILURE_REASONS],
        list(result.ungraded)[:MAX_FAILURE_REASONS],
    )
    return [*failed, *ungraded, *(reason.partition(": ")[2] for reason in ungraded)]


def _failures(result: LevelResult) -> Iterator[Line]:
    for reason, count in list(result.failures.items())[:MAX_FAILURE_REASONS]:
        yield Line("note", [f"At {result.level.name} {count:,} failed: ", ExternalText(reason)])
    for reason, count in list(result.ungraded.items())[:MAX_FAILURE_REASONS]:
        yield Line(
            "note",
            [
                f"At {result.level.name} {count_with_noun(count, 'answer')} could not be graded: ",
                ExternalText(reason),
            ],
        )


def _as_others_count(report: LoadReport) -> Iterator[Line]:
    """Yield figures of the level with the highest rate, computed by the definitions of other programs."""
    known = [result for result in report.levels if result.overall is not None and result.overall.tpot]
    if not known:
        return
    best = max(known, key=lambda result: result.overall.achieved if result.overall else 0.0)
    whole = best.overall
    assert whole is not None
    tokens = "" if whole.output_tokens is None else f" and {whole.output_tokens:,.0f} tokens/s"
    text = (
        f"As others count, {_within(best.level)}: {whole.achieved:,.2f} requests/s{tokens} over all "
        f"{whole.seconds:.1f} s (vLLM, AIPerf, GuideLLM); TPOT "
        f"{format_milliseconds(whole.tpot)} ms (vLLM; AIPerf's ITL); "
        f"ITL {format_milliseconds(whole.itl)} ms and TPOT {format_milliseconds(whole.tpot_with_ttft)} ms (GuideLLM)."
    )
    yield Line("note", [text])


def level_text(level: LoadLevel) -> str:
    """Return the name of a level for the beginning of a sentence."""
    if level.concurrency is not None:
        return f"{level.name} in flight"
    return "The trace" if level.rate is None else f"{level.name} ({level.arrivals})"


def _within(level: LoadLevel) -> str:
    text = level_text(level)
    return text[0].lower() + text[1:]


def self_test_text(found: SelfTest) -> str:
    """Describe the limits of this machine: maximum requests/s, maximum chunks/s, and the error of the TTFT."""
    return (
        f"This machine can measure up to {found.requests:,.0f} requests/s and {found.chunks:,.0f} chunks/s; at 64 "
        f"streams, TTFT is off by {found.ttft_error_p50 * 1e3:+.2f} ms (median) and {found.ttft_error_p99 * 1e3:+.2f} "
        "ms (p99)."
    )


def objectives_text(objectives: Sequence[Objective]) -> str:
    """Return the objectives as text: `TTFT within 500 ms and latency within 10,000 ms`."""
    return " and ".join(
        f"{MEASURE_NAMES[one.measure]} within {format_milliseconds(one.seconds)} ms" for one in objectives
    )


def saturation_text(found: Saturation, report: LoadReport) -> str:
    """Describe the level from which more load brings no more throughput. If that level was not found, say why."""
    if not found.found:
        return f"Saturation was not found: {found.reason}."
    doubt = (
        " The times that decide this are not valid: measure again on a quieter machine."
        if found.doubtful
        else ""
    )
    is_open = any(result.level.is_open_loop for result in report.levels)
    return (_kept_up(found) if is_open else _saturated(found)) + doubt


def _saturated(found: Saturation) -> str:
    assert found.level is not None
    assert found.served is not None
    text = f"Saturated from {found.level.name} in flight on: {found.served:,.2f} {found.by}"
    if found.beyond is None or found.beyond_served is None:
        return f"{text}, the most that was found."
    change = (found.beyond_served / found.served - 1) * 100 if found.served else 0.0
    return f"{text}; with {found.beyond.name} it is {found.beyond_served:,.2f} ({change:+.0f} %)."


def _kept_up(found: Saturation) -> str:
    missed = ""
    if found.beyond is not None and found.beyond_served is not None:
        missed = f" {found.beyond.name} ({found.beyond_served:,.2f} {found.by})"
    if found.level is None:
        return f"Saturated below the lowest rate: the server did not keep up with{missed}."
    return f"The server keeps up with {found.level.name}, and no longer with{missed}."
