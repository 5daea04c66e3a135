"""`compare`: is B better than A? Any two or more runs, result files or eval results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from benchwright.analysis.comparison.deciding import decide, nameable_metrics
from benchwright.analysis.comparison.names import letter_of, side_names
from benchwright.analysis.comparison.pairs import compare_pair, settled
from benchwright.analysis.comparison.records import ComparedRun, Comparison, RunScore
from benchwright.analysis.comparison.references import Reference, resolve
from benchwright.analysis.comparison.result_files import ResultFile
from benchwright.analysis.comparison.rules import parse_rule
from benchwright.analysis.comparison.sides import ERROR, NO_ANSWER, Column, Side
from benchwright.analysis.joint.concurrency import by_concurrency, why_no_table
from benchwright.analysis.joint.views import joint_view
from benchwright.errors import UserError
from benchwright.records import Record
from benchwright.stats.arrays import Codes, Vector, exact_mean
from benchwright.stats.repeats import sample_means


class ComparisonOptions(Record, frozen=True):
    """What a comparison is to do besides comparing.

    `fail_if` are rules as they are typed, `max_regression` the loss that a gate lets pass, in units of the score; with
    `prove` it lets pass only what is shown not to lose more.
    """

    confidence: float = 0.95
    anyway: bool = False
    fail_if: tuple[str, ...] = ()
    max_regression: float | None = None
    prove: bool = False

    @property
    def decides(self) -> bool:
        """Whether a decision is asked for."""
        return bool(self.fail_if) or self.max_regression is not None


class Outcome(Record, frozen=True):
    """The answer, and the columns of the documented table where all that was given is result files."""

    comparison: Comparison
    columns: list[ResultFile]


def compare(references: Sequence[str], wanted: ComparisonOptions = ComparisonOptions()) -> Outcome:  # noqa: B008  # frozen
    """Compares the first of each task with every other one of it; of a single run, its targets.

    Raises:
        UserError: a reference means nothing, a rule is none, or a decision is asked for where nothing can be
            compared.
    """
    return compare_named([resolve(reference) for reference in references], wanted)


def compare_named(named: Sequence[Reference], wanted: ComparisonOptions) -> Outcome:
    """Compares what was read already; see `compare`."""
    if not 0.5 < wanted.confidence < 1:
        raise UserError(f"--confidence {wanted.confidence:g}: give a number between 0.5 and 1, such as 0.95.")
    if wanted.max_regression is not None and not wanted.max_regression >= 0:
        raise UserError(
            "--max-regression: give the largest acceptable loss, 0 or more, in units of the score."
        )
    if wanted.prove and wanted.max_regression is None:
        raise UserError("--prove needs --max-regression: the largest acceptable loss.")
    rules = [parse_rule(text) for text in wanted.fail_if]
    sides = _lettered([side for one in named for side in one.sides(all_slots=len(named) == 1)])
    groups = _groups(sides)
    pairs = [
        compare_pair(group[0], other, wanted.confidence, anyway=wanted.anyway)
        for group in groups
        for other in group[1:]
    ]
    pairs, tests = settled(pairs)
    metrics = nameable_metrics(sides, pairs)
    views = [joint_view(side, wanted.confidence) for side in sides]
    tables = by_concurrency(sides, views)
    comparison = Comparison(
        runs=[_run(side) for side in sides],
        pairs=[pair.result for pair in pairs],
        confidence=wanted.confidence,
        tests=tests,
        notes=[*(_alone(groups) if len(sides) > 1 else []), *why_no_table(views, tables)],
        rulings=decide(pairs, sides, rules, wanted.max_regression, wanted.confidence, prove=wanted.prove)
        if wanted.decides
        else [],
        metrics=metrics,
        joint=[view for view in views if view is not None],
        by_concurrency=tables,
    )
    columns = [one.column for one in named if one.column is not None]
    return Outcome(comparison, columns if len(columns) == len(named) else [])


def _lettered(sides: list[Side]) -> list[Side]:
    letters = [letter_of(number) for number in range(len(sides))]
    names = side_names([side.facts.title for side in sides], letters)
    return [
        replace(side, facts=replace(side.facts, letter=letter, name=name))
        for side, letter, name in zip(sides, letters, names, strict=True)
    ]


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
        f"{group[0].facts.name} is the only run of {group[0].facts.task}: there is nothing to compare it with"
        for group in groups
        if len(group) == 1
    ]


def _run(side: Side) -> ComparedRun:
    facts, trials = side.facts, side.trials
    first = next(iter(trials.scores.values()), None)
    return ComparedRun(
        letter=facts.letter,
        reference=facts.reference,
        model=facts.model,
        agent=facts.agent,
        task=facts.task,
        source=facts.source,
        samples=trials.samples.distinct() or len(trials.samples),
        trials=len(trials.samples),
        errors=0 if first is None else first.count(ERROR),
        no_answer=0 if first is None else first.count(NO_ANSWER),
        run=facts.run,
        slot=facts.slot,
        state=facts.state,
        concurrency=facts.concurrency,
        simulated=bool(facts.simulated),
        name=facts.name,
        scores=[_score(side, name, column) for name, column in trials.scores.items()],
    )


def _score(side: Side, name: str, column: Column) -> RunScore:
    """Return a score of a side, its repeats averaged per sample as in its summary."""
    scored = np.flatnonzero(column.states != ERROR)
    none = side.no_score(name)
    samples = side.trials.samples.codes[scored]
    known = bool((samples >= 0).all())
    mean = none if none is not None else _mean(column.values[scored], samples if known else None)
    return RunScore(name, scored.size, mean)


def _mean(values: Vector, samples: Codes | None) -> float:
    return exact_mean(values if samples is None else sample_means(values, samples).means)
