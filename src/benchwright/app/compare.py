"""`compare`: is B better than A? Any two or more runs, result files or eval results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from benchwright.app.comparing.comparable import differing_settings, refusals, unknown
from benchwright.app.comparing.figures import compare_score, same_everywhere, settle, upper_bound
from benchwright.app.comparing.latency import compare_latencies
from benchwright.app.comparing.pairing import Alignment, align
from benchwright.app.comparing.references import resolve
from benchwright.app.comparing.rules import (
    Rule,
    apply_rule,
    metrics_of,
    metrics_of_pair,
    parse_rule,
    rule_on_regression,
)
from benchwright.app.comparing.sides import ERROR, NO_ANSWER, Side
from benchwright.app.joint import by_concurrency, joint_view, why_no_table
from benchwright.errors import UserError
from benchwright.records import Record
from benchwright.reports.compare_table import ResultFile
from benchwright.reports.comparison.records import ComparedRun, Comparison, PairComparison, Ruling
from benchwright.stats.families import holm


class Wanted(Record, frozen=True):
    """What a comparison is to do besides comparing.

    `fail_if` are rules as they are typed, `max_regression` the loss that a gate lets pass, in units of the score.
    """

    confidence: float = 0.95
    anyway: bool = False
    fail_if: tuple[str, ...] = ()
    max_regression: float | None = None

    @property
    def decides(self) -> bool:
        """Whether a decision is asked for."""
        return bool(self.fail_if) or self.max_regression is not None


class Outcome(Record, frozen=True):
    """The answer, and the columns of the documented table where all that was given is result files."""

    comparison: Comparison
    columns: list[ResultFile]


class Compared(NamedTuple):
    """A pair with what its gates need."""

    result: PairComparison
    a: Side
    b: Side
    aligned: Alignment | None


def compare(references: Sequence[str], wanted: Wanted = Wanted()) -> Outcome:  # noqa: B008  # frozen
    """Compares the first of each task with every other one of it; of a single run, its targets.

    Raises:
        UserError: a reference means nothing, a rule is none, or a decision is asked for where nothing can be
            compared.
    """
    if not 0.5 < wanted.confidence < 1:
        raise UserError(f"--confidence {wanted.confidence:g}: give a number between 0.5 and 1, such as 0.95.")
    if wanted.max_regression is not None and not wanted.max_regression >= 0:
        raise UserError("--max-regression: give the loss that may pass, 0 or more, in units of the score.")
    rules = [parse_rule(text) for text in wanted.fail_if]
    named = [resolve(reference) for reference in references]
    sides = _lettered([side for one in named for side in one.sides(all_slots=len(named) == 1)])
    groups = _groups(sides)
    pairs = [_compare(group[0], other, wanted) for group in groups for other in group[1:]]
    pairs, tests = _settled(pairs)
    metrics = _metrics(sides, pairs)
    views = [joint_view(side, wanted.confidence) for side in sides]
    tables = by_concurrency(sides, views)
    comparison = Comparison(
        runs=[_run(side) for side in sides],
        pairs=[pair.result for pair in pairs],
        confidence=wanted.confidence,
        tests=tests,
        notes=[*(_alone(groups) if len(sides) > 1 else []), *why_no_table(views, tables)],
        rulings=_decide(pairs, sides, rules, wanted) if wanted.decides else [],
        metrics=metrics,
        joint=[view for view in views if view is not None],
        by_concurrency=tables,
    )
    columns = [one.column for one in named if one.column is not None]
    return Outcome(comparison, columns if len(columns) == len(named) else [])


def _lettered(sides: list[Side]) -> list[Side]:
    return [
        msgspec.structs.replace(side, facts=msgspec.structs.replace(side.facts, letter=_letter(number)))
        for number, side in enumerate(sides)
    ]


def _letter(number: int) -> str:
    """A to Z, then A2, B2, ..."""
    round_, place = divmod(number, 26)
    return chr(ord("A") + place) + (str(round_ + 1) if round_ else "")


def _groups(sides: list[Side]) -> list[list[Side]]:
    """The sides by task; two are always meant to be compared."""
    if len(sides) < 3:
        return [sides]
    groups: dict[tuple[str, str], list[Side]] = {}
    for side in sides:
        groups.setdefault((side.facts.kind, side.facts.subject), []).append(side)
    return list(groups.values())


def _alone(groups: list[list[Side]]) -> list[str]:
    return [
        f"{group[0].facts.letter} is the only run of {group[0].facts.task}: there is nothing to compare it with"
        for group in groups
        if len(group) == 1
    ]


def _compare(a: Side, b: Side, wanted: Wanted) -> Compared:
    reasons = refusals(a.facts, b.facts)
    names = list(_score_names(a, b))
    result = PairComparison(
        a=a.facts.letter, b=b.facts.letter, task=b.facts.task, refusals=reasons, anyway=wanted.anyway
    )
    if not names:
        reasons = [*reasons, _no_scores(a, b)]
        return Compared(msgspec.structs.replace(result, refusals=reasons, anyway=False), a, b, None)
    if result.refused:
        return Compared(result, a, b, None)
    aligned = align(a, b)
    scores = [compare_score(aligned, a, b, name, wanted.confidence) for name in names]
    latencies, no_latency = compare_latencies(a, b, wanted.confidence)
    result = msgspec.structs.replace(
        result,
        alignment=aligned.told,
        notes=list(_notes(a, b, [name for name, score in zip(names, scores, strict=True) if score is None])),
        scores=[score for score in scores if score is not None],
        latencies=latencies,
        no_latency=no_latency,
    )
    return Compared(result, a, b, aligned)


def _score_names(a: Side, b: Side) -> Iterator[str]:
    """The scores of both sides; a benchmark's `score` only where it is not the accuracy again."""
    for name, column in a.trials.scores.items():
        if name not in b.trials.scores:
            continue
        accuracy = [side.trials.scores.get("accuracy") for side in (a, b)]
        if name == "score" and accuracy[0] is not None and accuracy[1] is not None:
            same = same_everywhere(column, accuracy[0])
            if same and same_everywhere(b.trials.scores[name], accuracy[1]):
                continue
        yield name


def _no_scores(a: Side, b: Side) -> str:
    return "they have no score in common: " + ", ".join(
        f"{side.facts.letter} has {' and '.join(side.trials.scores) or 'none'}" for side in (a, b)
    )


def _notes(a: Side, b: Side, empty: list[str]) -> Iterator[str]:
    yield from differing_settings(a.facts, b.facts)
    yield from unknown(a.facts, b.facts)
    yield from (f"{name!r} has no value on one side" for name in empty)
    for side in (a, b):
        if side.facts.state not in (None, "finished"):
            yield f"{side.facts.letter} is {side.facts.state}: only what it has done is compared"


def _settled(pairs: list[Compared]) -> tuple[list[Compared], int]:
    """The pairs with Holm's p-values over all of their scores, and how many tests there are."""
    p_values = [score.p_value for pair in pairs for score in pair.result.scores if score.p_value is not None]
    tests = len(p_values)
    adjusted = holm(p_values).tolist()
    settled = []
    place = 0
    for pair in pairs:
        scores = []
        for score in pair.result.scores:
            tested = score.p_value is not None
            p_adjusted = adjusted[place] if tested and tests > 1 else None
            others = p_values[:place] + p_values[place + tested :]
            scores.append(settle(score, p_adjusted, partial(_among, others), max(tests, 1)))
            place += tested
        settled.append(pair._replace(result=msgspec.structs.replace(pair.result, scores=scores)))
    return settled, tests


def _among(others: list[float], p_value: float) -> float:
    """What Holm makes of a p-value among these others."""
    return float(holm([p_value, *others])[0])


def _run(side: Side) -> ComparedRun:
    facts, trials = side.facts, side.trials
    first = next(iter(trials.scores.values()), None)
    return ComparedRun(
        letter=facts.letter,
        reference=facts.reference,
        model=facts.model,
        task=facts.task,
        source=facts.source,
        samples=len(set(trials.samples)) if any(trials.samples) else len(trials.samples),
        trials=len(trials.samples),
        errors=0 if first is None else first.count(ERROR),
        no_answer=0 if first is None else first.count(NO_ANSWER),
        run=facts.run,
        slot=facts.slot,
        state=facts.state,
        concurrency=facts.concurrency,
        simulated=bool(facts.simulated),
    )


def _metrics(sides: list[Side], pairs: list[Compared]) -> dict[str, float | None]:
    """What `--fail-if` can name: of the only run, or of the only pair with its second run."""
    if len(sides) == 1:
        return metrics_of(sides[0])
    return _pair_metrics(pairs[0]) if len(pairs) == 1 else {}


def _pair_metrics(pair: Compared) -> dict[str, float | None]:
    return metrics_of(pair.b) | metrics_of_pair(pair.result)


def _decide(pairs: list[Compared], sides: list[Side], rules: list[Rule], wanted: Wanted) -> list[Ruling]:
    for pair in pairs:
        if pair.result.refused:
            told = "; ".join(pair.result.refusals)
            raise UserError(f"{pair.result.a} and {pair.result.b} are not comparable: {told}. See --anyway.")
        compared = {score.score for score in pair.result.scores}
        for name in _score_names(pair.a, pair.b):
            if name not in compared:
                raise UserError(f"{name!r} has no value on one side, so there is nothing to decide on.")
    if len(sides) == 1:
        if wanted.max_regression is not None:
            raise UserError("--max-regression needs two runs: the old one first, the new one second.")
        return [apply_rule(rule, metrics_of(sides[0])) for rule in rules]
    if not pairs:
        raise UserError("Nothing was compared, so there is nothing to decide on.")
    rulings = [ruling for pair in pairs for ruling in _rulings(pair, rules, several=len(pairs) > 1)]
    if wanted.max_regression is not None:
        rulings += _regressions(pairs, wanted.max_regression, wanted.confidence)
    return rulings


def _rulings(pair: Compared, rules: list[Rule], *, several: bool) -> Iterator[Ruling]:
    metrics = _pair_metrics(pair)
    for rule in rules:
        ruling = apply_rule(rule, metrics)
        if several:
            ruling = msgspec.structs.replace(ruling, rule=f"{pair.result.b}: {ruling.rule}")
        yield ruling


def _regressions(pairs: list[Compared], margin: float, confidence: float) -> list[Ruling]:
    """A gate for every score of every pair; all together give a false alarm with 1 - confidence at most."""
    tests = sum(len(pair.result.scores) for pair in pairs)
    level = 1 - (1 - confidence) / tests
    rulings = []
    for pair in pairs:
        for score in pair.result.scores:
            assert pair.aligned is not None
            columns = pair.a.trials.scores[score.score], pair.b.trials.scores[score.score]
            found = upper_bound(pair.aligned, *columns, level)
            name = f"{pair.result.b} against {pair.result.a}, {score.score}"
            ruling = rule_on_regression(name, found, margin, confidence, tests)
            told = f"{ruling.told}; {score.n or score.n_b:,} samples, {score.errors_b:,} trials failed"
            rulings.append(msgspec.structs.replace(ruling, told=told))
    return rulings
