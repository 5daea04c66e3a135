"""The summary of a run as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchwright.analysis.deciding.records import RunDecision
from benchwright.analysis.differences import Difference
from benchwright.analysis.equal_repeats import equal_repeats_lines
from benchwright.analysis.judged.judge_sentences import judge_lines
from benchwright.analysis.no_scores import remaining_failures, remove_shown_reason, unscored_scorers
from benchwright.analysis.pass_at_k import PassAtK
from benchwright.analysis.request_lines import request_lines
from benchwright.analysis.request_summary import RequestSummary
from benchwright.analysis.summary_records import RunSummary, ScoreSummary, TargetSummary
from benchwright.analysis.suspicious_passes import suspicious_lines
from benchwright.analysis.thinking import completion_tokens_text, thinking_lines
from benchwright.formats import (
    count_with_noun,
    format_duration,
    format_interval,
    format_milliseconds,
    number_text,
)
from benchwright.reports.comparison.sentences import unescaped_line
from benchwright.reports.decision import decision_lines
from benchwright.text import make_lines_safe, make_safe

METHOD_TEXTS = {
    "wilson": "Wilson interval",
    "wilson-effective-n": "Wilson interval at the effective sample size",
    "t": "t interval over samples",
    "cluster-t": "t interval over groups",
    "bounded": "interval of equal scores in a known range (Clopper-Pearson)",
}

BLANK_LINE = Text("")


def render_summary(summary: RunSummary, said: str = "") -> RenderableType:
    """Render the summary of a run: scores with their denominators, failures, warnings and speed.

    Each reason for failures appears once. `said`: a reason that the caller has already printed. It is left out here.
    """
    parts: list[RenderableType] = [_heading(summary), *_banners(summary)]
    for target in summary.targets:
        parts += [
            BLANK_LINE,
            *(_target(target, summary.repeats, said) if target.trials else [_nothing(target)]),
        ]
    if summary.decision is not None:
        parts += [BLANK_LINE, *decision_texts(summary.decision)]
    if summary.differences:
        parts += [BLANK_LINE, _differences(summary.differences, summary.names)]
    return Group(*parts)


def decision_texts(decision: RunDecision) -> list[Text]:
    """Return the decision on the run's statistical question (`--until`) as lines."""
    styles = {"verdict": "bold", "warning": "bold red"}
    return [
        Text(make_safe(unescaped_line(line)), style=styles.get(line.kind, "dim"))
        for line in decision_lines(decision)
    ]


def _nothing(target: TargetSummary) -> Text:
    cut_off = f" ({target.cut_off:,} cut off)" if target.cut_off else ""
    return Text(f"{make_safe(target.title)}  no trial is finished{cut_off}")


def _target(target: TargetSummary, repeats: int, said: str) -> list[RenderableType]:
    parts: list[RenderableType] = [
        _statuses(target, repeats),
        *failure_lines(target, said),
        *thinking_texts(target),
        *flag_lines(target),
        *repeat_lines(target),
        *judging_lines(target),
        *_documented(target),
        *no_score_lines(target, said),
        BLANK_LINE,
    ]
    if _scored(target):
        parts += [_scores(target), BLANK_LINE]
    if any(score.passes for score in target.scores):
        parts += [_passes(target), BLANK_LINE]
    return [*parts, _speed(target)]


def _heading(summary: RunSummary) -> Text:
    some = f"{summary.done:,} of " if summary.planned is not None else ""
    trials = count_with_noun(summary.done if summary.planned is None else summary.planned, "trial")
    return Text(f"{make_safe(summary.name)}: {summary.state}, {some}{trials}", style="bold")


def _banners(summary: RunSummary) -> list[Text]:
    banners = [Text(f"Note: {make_lines_safe(summary.note)}")] if summary.note else []
    banners += [
        Text(make_safe(line), style="dim") for line in (summary.origin.lines if summary.origin else [])
    ]
    if summary.simulated:
        banners.append(Text("SIMULATED: the answers are not from a model.", style="bold yellow"))
    if summary.timings_note is not None:
        banners.append(Text(f"TIMINGS INVALID: {summary.timings_note}", style="bold red"))
    short = [remove_shown_reason(sentence, summary.targets) for sentence in summary.shortfalls]
    banners += [Text(make_safe(sentence), style="bold red") for sentence in short]
    stopped = remove_shown_reason(summary.stop_reason or "", summary.targets)
    if stopped and summary.state != "decided":
        banners.append(Text(f"Stopped early: {make_safe(stopped)}", style="yellow"))
    return banners


def _statuses(target: TargetSummary, repeats: int) -> Text:
    counts = ", ".join(f"{count:,} {status.replace('_', ' ')}" for status, count in target.statuses.items())
    per_row = f" ({repeats} per row)" if repeats > 1 else ""
    reused = f", {target.reused:,} reused from earlier runs" if target.reused else ""
    cut_off = f"; {target.cut_off:,} more were cut off and do not count" if target.cut_off else ""
    return Text(
        f"{make_safe(target.title)}  {count_with_noun(target.trials, 'trial')}{per_row}{reused}: {counts}{cut_off}"
    )


def failure_lines(target: TargetSummary, said: str = "") -> list[Text]:
    """Return the reasons for failed trials, one line each, the most frequent reason first.

    Left out are the reasons in `said`, and reasons that are reported with the scores.
    """
    return [
        Text(f"  {count:,} failed: {make_safe(reason)}", style="yellow")
        for reason, count in remaining_failures(target, said).items()
    ]


def no_score_lines(target: TargetSummary, said: str = "") -> list[Text]:
    """Return a line for each scorer that has no score at all. The line contains the reason."""
    return [Text(f"  {make_safe(one.text(said))}", style="yellow") for one in unscored_scorers(target)]


def _scored(target: TargetSummary) -> list[ScoreSummary]:
    """Return the scores of a target that have a value."""
    return [score for score in target.scores if score.no_score is None]


def thinking_texts(target: TargetSummary) -> list[Text]:
    """Return a line about trials that reached the token limit while reasoning. Empty if there are no such trials."""
    return [Text(f"  {line}", style="yellow") for line in thinking_lines(target.thinking_cut_off)]


def flag_lines(target: TargetSummary) -> list[Text]:
    """Return lines about passes that may not be genuine. Empty if there are no such passes."""
    return [Text(f"  {make_safe(line)}", style="yellow") for line in suspicious_lines(target.suspicious)]


def repeat_lines(target: TargetSummary) -> list[Text]:
    """Return a warning if the repeats of each sample have equal answers. Empty otherwise."""
    return [Text(f"  {line}", style="yellow") for line in equal_repeats_lines(target.equal_repeats)]


def judging_lines(target: TargetSummary) -> list[Text]:
    """Return lines about the judge models that gave the scores, and on how far human labels agree with them."""
    return [Text(f"  {make_safe(line)}") for line in judge_lines(target.scores)]


def _documented(target: TargetSummary) -> list[Text]:
    """Return lines with the mean, std, min, max and pass@k of every score.

    In these documented figures, trials without a score count as 0.
    """
    lines = []
    for score in _scored(target):
        figures = {"mean": score.mean, "std": score.std, "min": score.min, "max": score.max}
        told = " ".join(f"{name}={number_text(value)}" for name, value in figures.items())
        lines.append(f"  {make_safe(score.scorer)}: {told}")
        if missing := score.n - score.n_scored:
            lines.append(f"    {missing:,} of {score.n:,} have no score and count as 0 here")
        if any(entry.too_few for entry in score.passes):
            lines.append(
                "    some samples have fewer repeats: the mean is over trials, the rest over samples"
            )
        lines += [
            f"    pass@{entry.k}: {entry.pass_at_k:.1%}{_some_samples(entry)}" for entry in score.passes
        ]
    return [Text(line) for line in lines]


def _some_samples(entry: PassAtK) -> str:
    """Return the number of samples on which a pass@k is based. Return "" if every sample has enough repeats."""
    if not entry.too_few:
        return ""
    total = entry.samples + entry.too_few
    return f"  ({entry.samples:,} of {count_with_noun(total, 'sample')}; the others have fewer than {entry.k} repeats)"


def _table(*columns: str, title: str | None = None) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    for position, column in enumerate(columns):
        table.add_column(
            column, justify="left" if position == 0 else "right", overflow="fold", no_wrap=position > 0
        )
    return table


def _scores(target: TargetSummary) -> RenderableType:
    table = _table("Score", "scored", "mean of these", "95% interval", "unparsed", "grader errors")
    for score in _scored(target):
        table.add_row(
            make_safe(score.scorer),
            f"{score.n_scored:,}/{score.n:,}",
            number_text(score.mean_scored) if score.n_scored < score.n else "same",
            format_interval(score.low, score.high),
            f"{score.unparsed:,}",
            f"{score.grader_errors:,}",
        )
    notes = [Text(_note(score), style="dim") for score in _scored(target)]
    return Group(table, *notes)


def interval_text(score: ScoreSummary) -> str:
    """Return how the interval of a score was computed, and the number of samples and clusters.

    If there is no interval, the reason is returned instead. The score must have a value.
    """
    groups = "" if score.n_groups is None else f" in {count_with_noun(score.n_groups, 'group')}"
    return (
        f"{METHOD_TEXTS.get(score.method) or _why_no_interval(score)}, "
        f"{count_with_noun(score.n_samples, 'sample')}{groups}"
    )


def _why_no_interval(score: ScoreSummary) -> str:
    if score.n_samples < 2:
        return "too few samples for an interval"
    if score.n_groups == 1:
        return "too few groups for an interval"
    return "no interval, because all scores are equal and their range is not known"


def _note(score: ScoreSummary) -> str:
    text = f"{make_safe(score.scorer)}: {interval_text(score)}"
    if score.between is not None and score.within is not None:
        text += f"; variance between samples {score.between:.4f}, between repeats of one {score.within:.4f}"
    if score.no_answer:
        text += f"; {score.no_answer:,} without an answer count as 0"
    if score.bounds is not None:
        text += f"; between {score.bounds[0]:.3f} and {score.bounds[1]:.3f} if the failures had been scored"
    return text


def _passes(target: TargetSummary) -> RenderableType:
    table = _table("pass@k", "k", "95% interval", "pass^k")
    for score in target.scores:
        for entry in score.passes:
            table.add_row(
                make_safe(score.scorer),
                str(entry.k),
                format_interval(entry.low, entry.high),
                f"{entry.pass_hat_k:.1%}",
            )
    return table


def _speed(target: TargetSummary) -> RenderableType:
    requests = target.requests
    table = _table("Speed", "mean", "p50", "p95", "p99")
    rows = (
        (
            "time to first token, ms",
            requests.ttft_mean,
            requests.ttft_p50,
            requests.ttft_p95,
            requests.ttft_p99,
        ),
        (
            "latency, ms",
            requests.latency_mean,
            requests.latency_p50,
            requests.latency_p95,
            requests.latency_p99,
        ),
    )
    for name, *values in rows:
        if any(value is not None for value in values):
            table.add_row(name, *(format_milliseconds(value) for value in values))
    if requests.gap_p50 is not None:
        table.add_row(
            "between tokens, ms",
            "–",
            format_milliseconds(requests.gap_p50),
            "–",
            format_milliseconds(requests.gap_p99),
        )
    if requests.generation_tps_mean is not None:
        table.add_row(
            "tokens/s of one answer",
            number_text(requests.generation_tps_mean, ".1f"),
            number_text(requests.generation_tps_p50, ".1f"),
            "–",
            "–",
        )
    failed = f", {requests.failed_requests:,} failed" if requests.failed_requests else ""
    retried = (
        f", {requests.retried_requests:,} retried ({format_duration(requests.waited_seconds)} of waiting)"
        if requests.retried_requests
        else ""
    )
    rate = f", {requests.effective_throughput_rps:.1f}/s" if requests.effective_throughput_rps else ""
    others = "".join(
        f", {count_with_noun(count, f'{make_safe(role)} request')}"
        for role, count in target.other_roles.items()
    )
    in_time = f" in {format_duration(requests.wall_time_seconds)}" if requests.wall_time_seconds else ""
    line = (
        f"{count_with_noun(requests.total_requests, 'request')}{failed}{retried}{others}"
        f"{in_time}{rate}; {tokens_text(requests)}"
    )
    told = Text(line, style="dim")
    lines = [
        told,
        *(Text(line, style="dim") for line in request_lines(requests)),
    ]
    return Group(table, *lines) if table.row_count else Group(*lines)


def tokens_text(requests: RequestSummary) -> str:
    """Return the total prompt and completion tokens of all requests."""
    if not requests.total_prompt_tokens and not requests.total_completion_tokens:
        return "tokens not known"
    return f"{requests.total_prompt_tokens:,} prompt and {completion_tokens_text(requests)}"


def _differences(differences: list[Difference], names: Mapping[str, str]) -> RenderableType:
    table = _table("Difference", "score", "mean", "95% interval", "p", "wins", "losses", "ties", "samples")
    notes = []
    for one in differences:
        table.add_row(
            f"{make_safe(names[one.slot])} - {make_safe(names[one.than])}",
            make_safe(one.scorer),
            number_text(one.difference, "+.3f"),
            format_interval(one.low, one.high),
            number_text(one.p_value, ".3g"),
            f"{one.wins:,}",
            f"{one.losses:,}",
            f"{one.ties:,}",
            f"{one.n:,}",
        )
        if one.low is not None and one.high is not None and one.low <= 0 <= one.high and one.detectable:
            notes.append(
                Text(
                    f"{make_safe(one.scorer)}: no difference found; one of {one.detectable:.3f} or more would "
                    "have been detected with 80 % probability.",
                    style="dim",
                )
            )
    return Group(table, *notes)
