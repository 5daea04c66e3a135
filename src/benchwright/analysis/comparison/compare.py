"""The `compare` command: is B better than A? Compares two or more runs, result files or results of evals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np
from msgspec.structs import replace

from benchwright.analysis.comparison.all_tasks_comparison import compare_all_tasks
from benchwright.analysis.comparison.folders import ComparedFolder, match_tasks, read_folder, task_of
from benchwright.analysis.comparison.gates import apply_gates, gate_metrics
from benchwright.analysis.comparison.holm_correction import correct_verdicts
from benchwright.analysis.comparison.pairs import PairOfSides, compare_pair
from benchwright.analysis.comparison.records import AllTasksComparison, ComparedRun, Comparison, RunScore
from benchwright.analysis.comparison.references import ResolvedReference, resolve_reference
from benchwright.analysis.comparison.result_files import ResultFile
from benchwright.analysis.comparison.rules import parse_rule
from benchwright.analysis.comparison.side_naming import side_letter, side_names
from benchwright.analysis.comparison.sides import ERROR, NO_ANSWER, Side, SideScoreColumn
from benchwright.analysis.quality_and_speed.concurrency import concurrency_tables, no_table_reason
from benchwright.analysis.quality_and_speed.views import joint_view
from benchwright.errors import UserError
from benchwright.records import Record
from benchwright.stats.arrays import CodeVector, Vector, exact_mean
from benchwright.stats.score_means import sample_means


class ComparisonOptions(Record, frozen=True):
    """Options of a comparison.

    `fail_if`: rules in the form in which the user typed them. `max_regression`: the loss that a gate lets pass,
    in units of the score. `require_non_inferiority`: True if the gate passes only if a larger loss is ruled out.
    """

    confidence: float = 0.95
    allow_incomparable: bool = False
    fail_if: tuple[str, ...] = ()
    max_regression: float | None = None
    require_non_inferiority: bool = False

    @property
    def wants_decision(self) -> bool:
        """True if a decision is requested."""
        return bool(self.fail_if) or self.max_regression is not None


class ComparisonOutcome(Record, frozen=True):
    """The comparison.

    `result_files`: columns of the documented table, if all references are result files. None otherwise.
    """

    comparison: Comparison
    result_files: list[ResultFile]


def compare(references: Sequence[str], wanted: ComparisonOptions = ComparisonOptions()) -> ComparisonOutcome:  # noqa: B008  # frozen
    """Compare runs and result files. For each task, the first reference is compared with every other one.

    If the only reference is a single run, its targets are compared.

    Folders are compared task by task (see `folders`).

    Raises:
        UserError: If a reference matches nothing, a rule is invalid, or a decision is requested but nothing can
            be compared.
    """
    check_options(wanted)
    found: list[ResolvedReference | ComparedFolder] = [
        read_folder(reference) or resolve_reference(reference) for reference in references
    ]
    if len(found) > 1 and any(isinstance(one, ComparedFolder) and len(one.references) > 1 for one in found):
        return compare_folders(found, wanted)
    named = [
        member for one in found for member in (one.references if isinstance(one, ComparedFolder) else [one])
    ]
    notes = [note for one in found if isinstance(one, ComparedFolder) for note in one.notes]
    return compare_references(named, wanted, notes)


def compare_references(
    named: Sequence[ResolvedReference], wanted: ComparisonOptions, notes: Sequence[str] = ()
) -> ComparisonOutcome:
    """Compare references that were already read; see `compare`."""
    check_options(wanted)
    sides = _lettered([side for one in named for side in one.sides(all_slots=len(named) == 1)])
    groups = _groups(sides)
    pairs = [
        compare_pair(group[0], other, wanted.confidence, anyway=wanted.allow_incomparable)
        for group in groups
        for other in group[1:]
    ]
    views = [joint_view(side, wanted.confidence) for side in sides]
    tables = concurrency_tables(sides, views)
    alone = _alone(groups) if len(sides) > 1 else []
    comparison = _concluded(sides, pairs, [], wanted, [*notes, *alone, *no_table_reason(views, tables)])
    columns = [one.result_file for one in named if one.result_file is not None]
    return ComparisonOutcome(
        replace(comparison, joint=[view for view in views if view is not None], by_concurrency=tables),
        columns if len(columns) == len(named) else [],
    )


def compare_folders(
    found: Sequence[ResolvedReference | ComparedFolder], wanted: ComparisonOptions
) -> ComparisonOutcome:
    """Compare the first folder with every other folder: task by task, and on average over the tasks.

    A reference that is not a folder counts as a folder with a single run.
    """
    folders = _named_folders(found)
    pairs: list[PairOfSides] = []
    together: list[AllTasksComparison] = []
    notes = [f"{name}: {note}" for name, _, told in folders for note in told]
    (first, first_sides, _), *others = folders
    for name, sides, _ in others:
        matched = match_tasks(first_sides, sides, (first, name))
        several = len({task_of(a) for a, _ in matched.pairs}) < len(matched.pairs)
        compared = [
            _of_task(compare_pair(a, b, wanted.confidence, anyway=wanted.allow_incomparable), several=several)
            for a, b in matched.pairs
        ]
        for model, own in _by_model(compared, several=several).items():
            overall = compare_all_tasks(own, first, name, wanted.confidence)
            together += [replace(overall, model=model)] if overall is not None else []
        pairs += compared
        notes += matched.notes
    if not pairs:
        raise UserError(f"The folders have no task in common: {'; '.join(notes)}.")
    used = {side.facts.letter for pair in pairs for side in (pair.a, pair.b)}
    sides = [side for _, some, _ in folders for side in some if side.facts.letter in used]
    return ComparisonOutcome(_concluded(sides, pairs, together, wanted, notes), [])


def _concluded(
    sides: list[Side],
    pairs: list[PairOfSides],
    together: list[AllTasksComparison],
    wanted: ComparisonOptions,
    notes: list[str],
) -> Comparison:
    """Return the comparison of all pairs, with Holm's correction over all tests and the requested decisions."""
    rules = [parse_rule(text) for text in wanted.fail_if]
    pairs, together, tests = correct_verdicts(pairs, together)
    return Comparison(
        runs=[_run(side) for side in sides],
        pairs=[pair.comparison for pair in pairs],
        confidence=wanted.confidence,
        tests=tests,
        notes=notes,
        metrics=gate_metrics(sides, pairs),
        rulings=apply_gates(
            pairs,
            sides,
            rules,
            wanted.max_regression,
            wanted.confidence,
            prove=wanted.require_non_inferiority,
        )
        if wanted.wants_decision
        else [],
        together=together,
    )


def check_options(wanted: ComparisonOptions) -> None:
    """Reject invalid options before any run is read.

    Raises:
        UserError: If a number is out of its range, an option lacks another one, or a rule is invalid.
    """
    if not 0.5 < wanted.confidence < 1:
        raise UserError(f"--confidence {wanted.confidence:g}: give a number between 0.5 and 1, such as 0.95.")
    if wanted.max_regression is not None and not wanted.max_regression >= 0:
        raise UserError(
            "--max-regression: give the largest acceptable loss, 0 or more, in units of the score."
        )
    if wanted.require_non_inferiority and wanted.max_regression is None:
        raise UserError("--prove needs --max-regression: the largest acceptable loss.")
    for text in wanted.fail_if:
        parse_rule(text)


def _of_task(pair: PairOfSides, *, several: bool) -> PairOfSides:
    """Return the pair with its task as label. If there are `several` models per task, the label also has the model."""
    task = task_of(pair.a)
    told = f"{task}, {pair.a.facts.title}" if several else task
    return pair._replace(comparison=replace(pair.comparison, task=told))


def _by_model(pairs: Sequence[PairOfSides], *, several: bool) -> dict[str | None, list[PairOfSides]]:
    """Group pairs by model, because pairs of several models on one task are not independent."""
    found: dict[str | None, list[PairOfSides]] = {}
    for pair in pairs:
        found.setdefault(pair.a.facts.title if several else None, []).append(pair)
    return found


def _named_folders(
    found: Sequence[ResolvedReference | ComparedFolder],
) -> list[tuple[str, list[Side], list[str]]]:
    """Return (name, sides, messages) of each folder. The sides are renamed to the folder's name.

    The messages are about files that were not read. Each side has a separate letter. If each folder has only
    one model, and these models are distinct, short and plain as names, the folders are named after their
    models. Otherwise, the folders keep their own names, if these are distinct, short and plain. Otherwise,
    letters are the names.
    """
    contents = [
        [side for member in one.references for side in member.sides(all_slots=True)]
        if isinstance(one, ComparedFolder)
        else list(one.sides(all_slots=False))
        for one in found
    ]
    models = [{side.facts.title for side in sides} for sides in contents]
    letters = [side_letter(number) for number in range(len(found))]
    candidates = [
        [next(iter(one)) if len(one) == 1 else "" for one in models],
        [one.path.resolve().name if isinstance(one, ComparedFolder) else one.reference for one in found],
    ]
    names = next((chosen for one in candidates if (chosen := side_names(one, letters)) != letters), letters)
    numbers = count()
    return [
        (
            name,
            [
                replace(side, facts=replace(side.facts, letter=side_letter(next(numbers)), name=name))
                for side in sides
            ],
            one.notes if isinstance(one, ComparedFolder) else [],
        )
        for name, sides, one in zip(names, contents, found, strict=True)
    ]


def _lettered(sides: list[Side]) -> list[Side]:
    letters = [side_letter(number) for number in range(len(sides))]
    names = side_names([side.facts.title for side in sides], letters)
    return [
        replace(side, facts=replace(side.facts, letter=letter, name=name))
        for side, letter, name in zip(sides, letters, names, strict=True)
    ]


def _groups(sides: list[Side]) -> list[list[Side]]:
    """Return lists of sides with the same task.

    If there are only two sides, they are always compared, so they form one list.
    """
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
        samples=trials.samples.count_distinct() or len(trials.samples),
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


def _score(side: Side, name: str, column: SideScoreColumn) -> RunScore:
    """Return one score of a side for display.

    Its mean is computed as in the run's summary; repeats are averaged per sample.
    """
    scored = np.flatnonzero(column.states != ERROR)
    none = side.no_score(name)
    samples = side.trials.samples.codes[scored]
    known = bool((samples >= 0).all())
    mean = none if none is not None else _mean(column.values[scored], samples if known else None)
    return RunScore(name, scored.size, mean)


def _mean(values: Vector, samples: CodeVector | None) -> float:
    return exact_mean(values if samples is None else sample_means(values, samples).means)
