"""The decision of a run on its statistical question (`--until`), as sentences for every output format."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.analysis.deciding.records import ModelDecision, RunDecision
from benchwright.formats import count_with_noun
from benchwright.reports.comparison.sentences import CellText, ExternalText, Line, difference_text
from benchwright.statistic import NoScore, is_number


def decision_progress(decision: RunDecision) -> str:
    """Return a short progress text: the verdicts so far and the number of samples used."""
    done = f"{decision.used:,} of {count_with_noun(decision.planned, 'sample')}"
    parts = [_short(one, several=len(decision.models) > 1) for one in decision.models]
    return f"{'; '.join(parts)} after {done}"


def _short(one: ModelDecision, *, several: bool) -> str:
    name = f"{one.model} {one.score} " if several else ""
    if one.verdict == "undecided":
        return f"{name}undecided {_difference(one)}"
    return f"{name}{one.verdict.replace('_', ' ')} {_difference(one)}"


def decision_lines(decision: RunDecision) -> Iterator[Line]:
    """Yield the verdicts. Then yield the population for which they hold, and the requests that stopping early saved."""
    if decision.refusal is not None:
        yield Line("warning", ["No decision: ", ExternalText(decision.refusal)])
        return
    scores = {one.score for one in decision.models}
    for one in decision.models:
        cells: list[CellText] = [ExternalText(one.score), ": "] if len(scores) > 1 else []
        yield Line("verdict", [*cells, *_verdict(one, decision)])
    yield Line("note", [_meaning(decision)])
    if saved := _saved(decision):
        yield Line("note", [saved])
    for one in decision.models:
        if one.narrower is not None:
            yield Line(
                "note",
                [f"Earlier results of other models made the interval {one.narrower * 100:.0f} % narrower."],
            )


def _verdict(one: ModelDecision, decision: RunDecision) -> Iterator[CellText]:
    new, old, after = ExternalText(one.model), ExternalText(one.than), _after(one, decision)
    margin = difference_text(decision.margin, one.unit)
    if one.verdict in ("better", "worse"):
        yield from (new, f" is {one.verdict} than ", old)
        if decision.goal == "not_worse":
            yield f" by more than {margin}"
    elif one.verdict == "not_worse":
        yield from (new, " is not worse than ", old, f" by more than {margin}")
    elif one.verdict == "equivalent":
        yield from (new, " and ", old, f" differ by less than {margin}")
    elif decision.over:
        yield from ("Undecided between ", new, " and ", old)
    else:
        yield from ("Not decided yet between ", new, " and ", old)
    yield f": {_difference(one)}, {after}."


def _difference(one: ModelDecision) -> str:
    if not is_number(one.difference) or not is_number(one.low) or not is_number(one.high):
        return one.difference.brief if isinstance(one.difference, NoScore) else "not known"
    ends = (_end(end, one.unit) for end in (one.low, one.high))
    return f"{difference_text(one.difference, one.unit, signed=True)} [{', '.join(ends)}]"


def _end(value: float, unit: bool) -> str:
    """Format an end of an interval.

    If it would be rounded to 0, it gets more digits, so that its sign shows.
    """
    text = difference_text(value, unit, signed=True).removesuffix(" points")
    return format(value * 100, "+.2g") if unit and value and float(text) == 0 else text


def _after(one: ModelDecision, decision: RunDecision) -> str:
    if one.used == decision.planned:
        return f"after all {count_with_noun(decision.planned, 'sample')}"
    return f"after {one.used:,} of {count_with_noun(decision.planned, 'sample')}"


def _meaning(decision: RunDecision) -> str:
    about = "these samples, not for others of their kind" if decision.finite else "new questions of this kind"
    several = " together" if len(decision.models) > 1 else ""
    return (
        f"It holds for {about}, with at most {decision.error * 100:g} % of wrong verdicts{several}, "
        f"however often one looks. Random order {decision.order_seed}."
    )


def _saved(decision: RunDecision) -> str:
    beyond = (
        f" {count_with_noun(decision.beyond, 'trial')} beyond it finished." if decision.beyond > 0 else ""
    )
    if not decision.is_decided or not decision.trials_saved:
        return ""
    saved = [
        count_with_noun(decision.trials_saved, "trial"),
        f"about {count_with_noun(decision.requests_saved, 'request')}",
    ]
    if decision.tokens_saved:
        saved.append(f"{count_with_noun(decision.tokens_saved, 'token')}")
    return f"Not asked: {', '.join(saved)}.{beyond}"
