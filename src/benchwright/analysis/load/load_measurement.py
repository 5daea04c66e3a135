"""A load measurement as a whole: its levels, their joint results, and remarks on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from benchwright.analysis.load.level_results import LevelData, closed_loop_sides, level_plan_of, read_level
from benchwright.analysis.load.measurement_windows import MIN_LATENCIES_PER_LEVEL
from benchwright.analysis.load.plot_data import DetailedLoad
from benchwright.analysis.load.records import LevelResult, LoadReport, Saturation
from benchwright.analysis.load.replay_notes import replay_notes
from benchwright.analysis.load.sequential_server import sequential_serving_evidence
from benchwright.analysis.load.sweep import LoadSweep
from benchwright.analysis.quality_and_speed.concurrency import concurrency_tables
from benchwright.analysis.quality_and_speed.views import joint_view
from benchwright.formats import count_with_noun, format_duration, format_milliseconds
from benchwright.runs.manifest import read_manifest
from benchwright.runs.serial_server import serial_serving_text
from benchwright.runs.table import RunTable
from benchwright.stats.seen_prefixes import SeenPrefixes

MIN_REPORTED_CACHED_SHARE = 0.05
"""A remark is made if more than this share of the prompt tokens came from the server's cache."""

PARALLELISM_HINT = (
    "An option of its may allow more: llama-server -np, OLLAMA_NUM_PARALLEL, vLLM --max-num-seqs"
)

MIN_REPORTED_REPEATED_SHARE = 0.05
"""A remark is made if more than this share of the prompts was repeated."""

MIN_REPORTED_ENDING_SHARE = 0.05
"""A remark is made if more than this share of the latency lies between the last token and the end of an answer."""

MIN_REPORTED_LENGTH_DEVIATION = 0.1
"""A remark is made if the length of the answers deviates from the requested length by more than this share."""


def read_load_measurement(tables: Iterable[RunTable]) -> DetailedLoad | None:
    """Return the measurement whose levels are these runs, with the data of its plots.

    Return None if no run is a load level. The measurement has the figures that `load` reported. The tables
    must be read with `effort=True`.

    Raises:
        JournalError: If a journal cannot be read.
    """
    found = [
        (plan, table)
        for table in tables
        if (plan := level_plan_of(read_manifest(table.directory))) is not None
    ]
    sent = SeenPrefixes()
    levels = [read_level(table, plan, sent) for plan, table in sorted(found, key=lambda one: one[0].number)]
    return DetailedLoad(build_load_report(levels), [level.detail for level in levels]) if levels else None


def build_load_report(levels: Sequence[LevelData], *, interrupted: bool | None = None) -> LoadReport:
    """Return the report on levels, which are given in the order of measurement.

    `interrupted`: True if the measurement was stopped early. If `interrupted` is None, the levels themselves
    show whether the measurement was stopped.
    """
    first = levels[0]
    results = [one.result for one in levels]
    target = first.manifest.targets[0]
    sides = closed_loop_sides(levels)
    cut = any(result.state == "unfinished" for result in results) if interrupted is None else interrupted
    return LoadReport(
        id=first.plan.id,
        task=first.manifest.task.name,
        model=first.manifest.typed_models.get(target.slot, target.model),
        base_url=target.base_url,
        prompts=first.plan.prompts,
        prompt_seed=first.plan.prompt_seed,
        objectives=first.plan.objectives,
        self_test=first.plan.self_test,
        levels=sorted(results, key=lambda result: (result.level.numeric_load, result.repeat)),
        saturation=_saturation(levels, interrupted=cut),
        by_concurrency=concurrency_tables(sides, [joint_view(side) for side in sides]),
        notes=list(measurement_notes(levels)),
        interrupted=cut,
    )


def _saturation(levels: Sequence[LevelData], *, interrupted: bool) -> Saturation | None:
    """Return the result of the sweep that measured these levels.

    Return None if no sweep measured the levels.
    """
    plan = levels[0].plan
    if plan.sweep is None:
        return None
    sweep = LoadSweep(plan.level, plan.sweep, objectives=bool(plan.objectives))
    for level in levels:
        sweep.next_level()
        sweep.add_result(level.result)
    if not interrupted:
        sweep.next_level()
    return sweep.conclusion(interrupted)


def measurement_notes(levels: Sequence[LevelData]) -> Iterator[str]:
    """Yield remarks for readers of the figures: on caches, lengths of answers, timing and steady state."""
    plan, results = levels[0].plan, [one.result for one in levels]
    cached = [
        one
        for one in results
        if one.cached is not None
        and one.cached > MIN_REPORTED_CACHED_SHARE
        and not one.warm_cache
        and one.replayed is None
    ]
    if cached:
        most = max(one.cached or 0.0 for one in cached)
        yield (
            f"The server took up to {most * 100:.0f} % of the prompt tokens from its prefix cache (level "
            f"{_names(cached)}): prompts it has not seen take longer"
        )
    yield from _one_at_a_time(results)
    yield from _sent_again(results)
    prompt, answer = results[0].prompt_length, results[0].answer_length
    if plan.synthetic and prompt is not None and answer is not None:
        yield f"Prompts had {prompt:,.0f} tokens and answers {answer:,.0f}, on average"
    reasoned = [one.reasoning_length for one in results if one.reasoning_length]
    if reasoned:
        yield f"Of the tokens of an answer, {_range(reasoned)} were reasoning, on average"
    if plan.prompt_seed is not None and not plan.seeded:
        yield f"The prompts are new ones; --seed {plan.prompt_seed} sends the same again"
    yield from _short_answers(results, plan.answer_tokens)
    yield from replay_notes(results, plan.speed)
    yield from _untimed(results)
    yield from _resent(results)
    yield from _at_once(results)
    yield from _ended_late(results)
    yield from _outlasting(results)
    yield from _asked_again(results)
    yield from _unsteady(results)


def _one_at_a_time(results: Sequence[LevelResult]) -> Iterator[str]:
    """Yield a remark, with the evidence, if the server processes only one request at a time.

    Yield nothing otherwise.
    """
    found = sequential_serving_evidence(results)
    alone = [(one, one.streams_alone) for one in results if one.streams_alone is not None]
    if found is not None:
        yield f"{serial_serving_text(found)}. {PARALLELISM_HINT}"
    elif alone:
        most, streams = max(alone, key=lambda one: one[0].in_flight)
        yield (
            f"The server serves one request at a time: at {most.level.name}, of {streams:,} answers none "
            f"began while another one was being sent, with up to {most.in_flight:,} requests in flight. "
            f"{PARALLELISM_HINT}"
        )


def _sent_again(results: Sequence[LevelResult]) -> Iterator[str]:
    """Yield a remark on repeated prompts.

    A cache may speed up their requests even if the server does not report it.
    """
    again = [
        one
        for one in results
        if one.replayed is None and (one.prompts_repeated or 0.0) > MIN_REPORTED_REPEATED_SHARE
    ]
    told = [
        f"at {one.level.name} {(one.prompts_repeated or 0.0) * 100:.0f} %"
        + (
            f" ({count_with_noun(one.prompts, 'prompt')}, each up to {one.prompt_most:,} times)"
            if one.prompt_most > 1
            else ""
        )
        for one in again
    ]
    if told:
        yield (
            f"Requests sent prompts again that had been sent before: {', '.join(told)}. A server that keeps prompts in "
            "a cache begins their answers sooner, whether or not it says so"
        )


def _untimed(results: Sequence[LevelResult]) -> Iterator[str]:
    for one in results:
        missing = one.answered_requests - (0 if one.ttft is None else one.ttft.n)
        if missing:
            yield (
                f"At {one.level.name} {missing:,} of {count_with_noun(one.answered_requests, 'answer')} had no "
                "first token: they were "
                "empty, or not streamed. They count as answers, and have neither TTFT nor time per token"
            )


def _resent(results: Sequence[LevelResult]) -> Iterator[str]:
    for one in results:
        if one.lost is not None:
            yield (
                f"At {one.level.name} {count_with_noun(one.lost.n, 'request')} of {one.answered_requests:,} had "
                "to be sent again, as "
                f"the server had closed an idle connection: {format_milliseconds(one.lost.p50.value)} "
                "ms lost (median), up to "
                f"{format_milliseconds(one.lost.p99.value)} ms (p99), which is in their TTFT"
            )


def _at_once(results: Sequence[LevelResult]) -> Iterator[str]:
    for one in results:
        if one.at_once:
            yield (
                f"At {one.level.name} {one.at_once:,} of {count_with_noun(one.answered_requests, 'answer')} "
                "came in one piece: their "
                "TTFT is the time of the whole answer, and how fast tokens came is not known of them"
            )


def _ended_late(results: Sequence[LevelResult]) -> Iterator[str]:
    for one in results:
        latency = None if one.latency is None else one.latency.p50.value
        if (
            one.ending is not None
            and latency is not None
            and one.ending > MIN_REPORTED_ENDING_SHARE * latency
        ):
            yield (
                f"At {one.level.name} answers ended {format_milliseconds(one.ending)} ms after their "
                "last token (median): "
                "that is in the latency, not in the time per token"
            )


def _outlasting(results: Sequence[LevelResult]) -> Iterator[str]:
    for one in results:
        if one.outlasting and one.overall is not None:
            yield (
                f"At {one.level.name} {count_with_noun(one.outlasting, 'request')} began before the "
                "window and ended after it: "
                f"they are in none of its figures. All of the level took {one.overall.seconds:.1f} s"
            )


def _asked_again(results: Sequence[LevelResult]) -> Iterator[str]:
    refused = [one for one in results if one.failed and one.answered_requests and not one.level.is_open_loop]
    if refused:
        yield (
            f"At {_names(refused)} some requests failed, and each was followed by the next at once: how many failed "
            "depends on how soon they did. --rate shows the share of users that are turned away"
        )


def _short_answers(results: Sequence[LevelResult], wanted: int | None) -> Iterator[str]:
    lengths = [one.answer_length for one in results if one.answer_length is not None]
    missed = [
        one
        for one in lengths
        if wanted is not None and abs(one - wanted) > MIN_REPORTED_LENGTH_DEVIATION * wanted
    ]
    if missed and wanted is not None:
        yield (
            f"Answers had {min(missed):,.0f} tokens instead of {wanted:,}: if the server supports it, "
            "--param ignore_eos=true makes them long enough"
        )


def _unsteady(results: Sequence[LevelResult]) -> Iterator[str]:
    for one in results:
        if one.answered_requests and one.achieved is None and one.overall is not None:
            yield (
                f"No steady rate at {one.level.name}: {count_with_noun(one.requests - one.disturbed, 'request')} "
                f"{'is' if one.requests == 1 else 'are'} too few for a steady state{_too_short(one)}. From "
                f"the first request to the last answer it was {one.overall.achieved:,.2f} answers/s, ramp-up and "
                "drain included; ask for more --requests or a longer --duration"
            )
        elif one.drift is not None and one.level.is_open_loop and one.drift > 0:
            yield (
                f"No steady state at {one.level.name}: latency grew by {one.drift * 100:.0f} % over the window. The "
                "server did not keep up; with a longer --duration latency is higher still"
            )
        elif one.drift is not None:
            yield (
                f"No steady state at {one.level.name}: latency changed by {one.drift * 100:+.0f} % over the window, so "
                "its figures depend on when they are taken"
            )


def _too_short(one: LevelResult) -> str:
    """Return a clause on how long the level would have to be, if it is too short for its latency. Empty otherwise."""
    if one.needs_seconds is None:
        return ""
    latency = one.needs_seconds / MIN_LATENCIES_PER_LEVEL
    seconds = f"{math.ceil(one.needs_seconds):,} s" if latency > 1 else f"{one.needs_seconds:.1f} s"
    more = f" ({math.ceil(one.level.rate * one.needs_seconds):,} requests)" if one.level.rate else ""
    return f", as an answer takes {format_duration(latency)}: requests have to be sent for {seconds} at least{more}"


def _range(lengths: Sequence[float]) -> str:
    low, high = f"{min(lengths):,.0f}", f"{max(lengths):,.0f}"
    return low if low == high else f"{low} to {high}"


def _names(results: Iterable[LevelResult]) -> str:
    return ", ".join(one.level.name for one in results)
