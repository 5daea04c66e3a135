"""The sentences of a comparison: verdicts, warnings, notes, gate results. Every output format renders these sentences.

Text from outside (names of models and scores, samples, answers) is marked as `ExternalText`, so that every format can
escape it in its own way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from benchwright.analysis.comparison.records import (
    AllTasksComparison,
    ComparedRun,
    Comparison,
    CountingPolicy,
    DataDifferences,
    GateResult,
    PairComparison,
    PolicyResult,
    ScoreComparison,
)
from benchwright.formats import count_with_noun
from benchwright.statistic import NoScore


class ExternalText(NamedTuple):
    """Text from outside Benchwright, not yet escaped."""

    text: str


CellText = str | ExternalText
LineKind = Literal["verdict", "warning", "note", "passed", "failed"]


def unescaped_text(cell: CellText) -> str:
    """Return the text of a cell without escaping it."""
    return cell.text if isinstance(cell, ExternalText) else cell


class Line(NamedTuple):
    """A sentence, as a list of parts (cells), and the kind of the sentence."""

    kind: LineKind
    cells: Sequence[CellText]


def unescaped_line(line: Line) -> str:
    """Return a sentence as text without escaping it. The caller must make the text safe for its output format."""
    return "".join(map(unescaped_text, line.cells))


MAX_SETTING_LENGTH = 40
"""Maximum number of characters of a setting in a sentence.

Longer settings appear only in `--json` and reports.
"""

POLICY_TEXTS: dict[CountingPolicy, str] = {
    "usual": "no answer is 0, failures left out",
    "dropped": "both left out",
    "zero": "both are 0",
    "best": "the best for {b}",
    "worst": "the worst for {b}",
}


def verdict_lines(comparison: Comparison) -> Iterator[Line]:
    """Yield the verdict on each score of each pair, one sentence each."""
    several = sum(len(pair.scores) for pair in comparison.pairs) > 1
    tasks = len({pair.task for pair in comparison.pairs}) > 1
    for pair in comparison.pairs:
        for score in pair.scores:
            cells: list[CellText] = [ExternalText(pair.task), ", "] if tasks else []
            cells += [ExternalText(score.title), ": "] if several else []
            yield Line("verdict", [*cells, _verdict(pair, score, comparison.tests)])


def all_tasks_verdict_lines(comparison: Comparison) -> Iterator[Line]:
    """Yield the verdict of each comparison over all tasks together, one sentence each."""
    for one in comparison.together:
        model: list[CellText] = [] if one.model is None else [" of ", ExternalText(one.model)]
        told = _verdict_of(one, one, _p_words(one, comparison.tests), unit=True)
        yield Line(
            "verdict", [f"All {count_with_noun(len(one.tasks), 'task')}", *model, f" together: {told}"]
        )


def _verdict(pair: PairComparison, score: ScoreComparison, tests: int) -> str:
    return _verdict_of(pair, score, _p_words(score, tests), unit=score.unit) + (
        _could(score) if score.verdict == "no difference found" else ""
    )


def _verdict_of(
    sides: PairComparison | AllTasksComparison,
    found: ScoreComparison | AllTasksComparison,
    p_value: str,
    *,
    unit: bool,
) -> str:
    a, b = sides.a, sides.b
    if found.verdict in ("better", "worse"):
        amount = difference_text(abs(found.difference), unit)
        interval = _interval_words(found, unit, flip=found.difference < 0)
        return f"{b} is {found.verdict} than {a} by {amount}{interval}, {p_value}."
    amount = difference_text(found.difference, unit, signed=True)
    if found.verdict == "undecided":
        return f"Undecided between {b} and {a}: the difference is {amount}, and the data does not support a test."
    return f"No difference found between {b} and {a}: {amount}{_interval_words(found, unit)}, {p_value}."


def _could(score: ScoreComparison) -> str:
    if score.detectable is None:
        return ""
    amount = difference_text(score.detectable, score.unit)
    return f" A true difference of {amount} would have been detected with 80 % probability."


def _interval_words(score: ScoreComparison | AllTasksComparison, unit: bool, *, flip: bool = False) -> str:
    if score.low is None or score.high is None:
        return ""
    ends = (-score.high, -score.low) if flip else (score.low, score.high)
    low, high = (_scaled(end, unit) for end in ends)
    return f" ({score.confidence * 100:g} % {low} to {high})"


def _p_words(score: ScoreComparison | AllTasksComparison, tests: int) -> str:
    if score.p_value is None:
        return "no p-value"
    if score.p_adjusted is None:
        return p_value_text(score.p_value)
    return f"{p_value_text(score.p_adjusted)} (Holm, {tests} tests; alone {p_value_text(score.p_value)})"


def p_value_text(p_value: float) -> str:
    """Format a p-value as an equation with two significant digits."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def difference_text(value: float, unit: bool, *, signed: bool = False) -> str:
    """Format a difference of scores. If `unit` is True (scores between 0 and 1), use percentage points."""
    return f"{_scaled(value, unit, signed=signed)} points" if unit else _scaled(value, unit, signed=signed)


def _scaled(value: float, unit: bool, *, signed: bool = False) -> str:
    sign = "+" if signed else ""
    text = format(value * 100, f"{sign}.1f") if unit else format(value, f"{sign}.4g")
    return text.replace("-0.0", "0.0") if text == "-0.0" else text


def comparison_warnings(
    comparison: Comparison, *, simulated: bool = True, no_scores: bool = True
) -> Iterator[Line]:
    """Yield the warnings: uncompared pairs, unpaired or fragile results, missing scores, simulated runs.

    `simulated`: False if the caller reports simulated runs elsewhere. `no_scores`: False if the caller reports missing
    scores elsewhere.
    """
    for pair in comparison.pairs:
        told = f"{pair.b} and {pair.a}: " if len(comparison.pairs) > 1 else ""
        if pair.is_refused:
            way = (
                ""
                if "no score in common" in pair.refusals[-1]
                else " Use --anyway to compare them regardless."
            )
            yield Line(
                "warning", [f"NOT COMPARED: {told}", ExternalText("; ".join(pair.refusals)), f".{way}"]
            )
        elif pair.refusals:
            yield Line(
                "warning", [f"COMPARED ANYWAY, although {told}", ExternalText("; ".join(pair.refusals)), "."]
            )
        for score in pair.scores:
            yield from _score_warnings(pair, score)
    if no_scores:
        yield from no_score_lines(_no_scores(comparison.runs))
    if simulated and any(run.simulated for run in comparison.runs):
        yield Line("warning", ["SIMULATED: some of these answers are not from a model."])


def _no_scores(runs: Sequence[ComparedRun]) -> Iterator[tuple[str, NoScore]]:
    """Yield (run and score, `NoScore` with the reason) for each score without a value.

    If accuracy has no value, the score named `score` is omitted.
    """
    for run in runs:
        known: set[str] = set()
        for score in run.scores:
            if score.no_score is not None and not (score.score == "score" and "accuracy" in known):
                known.add(score.score)
                yield f"{run.name or run.letter}, {score.score}", score.no_score


def no_score_lines(found: Iterable[tuple[str, NoScore]]) -> Iterator[Line]:
    """Yield a warning for each missing score. `found`: pairs (name of the score, reason).

    Names with equal reasons share one warning.
    """
    by_reason: dict[tuple[str, ...], list[tuple[str, NoScore]]] = {}
    for what, why in found:
        by_reason.setdefault(tuple(why.reasons), []).append((what, why))
    for reasons, same in by_reason.items():
        if len(same) == 1:
            ((what, why),) = same
            yield Line("warning", [ExternalText(f"{what}: {why}"), "."])
            continue
        told = "; ".join(f"{what}: {why.brief}" for what, why in same)
        yield Line("warning", [ExternalText("".join([told, *(f"; {reason}" for reason in reasons)])), "."])


def _score_warnings(pair: PairComparison, score: ScoreComparison) -> Iterator[Line]:
    if score.unpaired is not None:
        yield Line(
            "warning",
            [
                ExternalText(score.title),
                f": UNPAIRED, because {score.unpaired}. The samples of {pair.a} and {pair.b} are taken as "
                "independent, which only detects much larger differences.",
            ],
        )
    elif score.n < min(score.n_a, score.n_b) / 2:
        told = (
            f": ONLY {count_with_noun(score.n, 'sample')} on both sides, of {score.n_a:,} and {score.n_b:,}."
        )
        yield Line("warning", [ExternalText(score.title), told])
    if score.depends:
        without = score.errors_a + score.errors_b + score.no_answer_a + score.no_answer_b
        told = "; ".join(f"{policy_text(one, pair)}: {one.verdict}" for one in score.counted)
        yield Line(
            "warning",
            [
                ExternalText(score.title),
                f": THE VERDICT DEPENDS on how to count {count_with_noun(without, 'trial')} without a score ({told}).",
            ],
        )


def policy_text(one: PolicyResult, pair: PairComparison) -> str:
    """Describe how trials without a score are counted under this policy."""
    return POLICY_TEXTS[one.policy].format(b=pair.b)


def note_lines(comparison: Comparison) -> Iterator[Line]:
    """Yield the notes of a comparison: for example, settings that differ, or why speed was not compared."""
    for pair in comparison.pairs:
        yield from pair_note_lines(pair, several=len(comparison.pairs) > 1)
    yield from (Line("note", [ExternalText(text), "."]) for text in comparison.notes)


def pair_note_lines(pair: PairComparison, *, several: bool) -> Iterator[Line]:
    """Yield the notes of a pair of runs.

    `several`: True if there are several pairs. Each note then names its pair.
    """
    told = f"{pair.b} and {pair.a}"
    yield from _noise(pair)
    if pair.data is not None:
        yield from _data(pair, pair.data)
    if pair.settings:
        among = f" of {told}" if several else ""
        yield Line("note", [f"Settings{among} that differ: ", *_settings(pair), "."])
    for note in pair.notes[len(pair.settings) :]:
        yield Line("note", [f"{told}: ", ExternalText(note), "."])
    if pair.no_latency is not None:
        yield Line("note", [f"Speed of {told} not compared: {pair.no_latency}."])


def _data(pair: PairComparison, data: DataDifferences) -> Iterator[Line]:
    """Yield sentences on samples whose data differ between the runs of a pair, or that only one of the runs has.

    Yield nothing if there are no such samples.
    """
    if data.unknown is not None:
        yield Line("note", [f"In what the data differ cannot be told: {data.unknown}."])
        return
    parts = [
        f"{count_with_noun(count, 'sample')} with another {what}"
        for what in ("gold answer", "prompt")
        if (count := data.count(what))
    ]
    parts += [
        f"{count_with_noun(len(alone), 'sample')} only in {name}"
        for name, alone in ((pair.a, data.only_a), (pair.b, data.only_b))
        if alone
    ]
    if parts:
        both = count_with_noun(data.both, "sample")
        yield Line(
            "note",
            [f"The data of {pair.b} and {pair.a} differ, with {both} on both sides: {', '.join(parts)}."],
        )


def _noise(pair: PairComparison) -> Iterator[Line]:
    for score in pair.scores:
        if score.noise is not None:
            within = "within" if abs(score.difference) <= score.noise else "beyond"
            noise = difference_text(score.noise, score.unit)
            told = f": up to {noise} between two runs of this model is noise, by their "
            yield Line(
                "note", [ExternalText(score.title), f"{told}repeats; this difference is {within} that."]
            )


def _settings(pair: PairComparison) -> Iterator[CellText]:
    for number, one in enumerate(pair.settings):
        yield from ["; "] if number else []
        setting = ExternalText(one.name.replace("_", " "))
        if (
            max(len(value or "") for value in (one.a, one.b)) > MAX_SETTING_LENGTH
            or "fingerprint" in one.name
        ):
            yield from ("not the same: ", setting)
            continue
        yield setting
        for name, value, before in ((pair.a, one.a, " is "), (pair.b, one.b, " and ")):
            yield before
            yield "not set" if value is None else ExternalText(value)
            yield f" for {name}"


def gate_lines(comparison: Comparison) -> Iterator[Line]:
    """Yield each gate result (the result of a rule), one sentence each."""
    yield from map(gate_line, comparison.rulings)


def gate_line(ruling: GateResult) -> Line:
    """Return the result of a rule as a sentence: passed or failed, the rule and the reason."""
    word = "passed" if ruling.passed else "FAILED"
    return Line(
        "passed" if ruling.passed else "failed",
        [f"{word}: ", ExternalText(ruling.rule), " — ", ExternalText(ruling.explanation)],
    )
