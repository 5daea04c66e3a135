"""Assembly of ARC-AGI from its rows, solver and scorer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from benchwright.catalog.arc_agi.grading import GridScorer
from benchwright.catalog.arc_agi.rows import format_grid, samples
from benchwright.catalog.arc_agi.solver import TwoAttemptSolver
from benchwright.catalog.asking import PlainBenchmark, assistant
from benchwright.catalog.benchmark import GOLD, About, Benchmark, Check, Figure, GradedTrial, Options
from benchwright.catalog.breakdowns import mean
from benchwright.records import Message, Sample


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark that `about` describes."""
    return PlainBenchmark(
        about=about,
        samples=samples,
        solver=TwoAttemptSolver(),
        scorers=(GridScorer(about.metric),),
        checks=_checks,
        figures=figures,
    )


def figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return two figures: the share of tasks with all test inputs solved, and the share of solved test inputs."""
    kept = list(graded)
    inputs = [float(solved) for one in kept for solved in one.detail.get("solved", ())]
    return [
        Figure(
            "all_inputs",
            mean([float(one.value == 1.0) for one in kept]),
            "tasks with all of their test inputs",
        ),
        Figure("test_inputs", mean(inputs), "of all test inputs, whatever their task"),
    ]


def _checks(sample: Sample) -> Iterator[Check]:
    right = [pair["output"] for pair in sample.content["test"]]
    wrong = [[[(grid[0][0] + 1) % 10, *grid[0][1:]], *grid[1:]] for grid in right]
    yield Check(GOLD, _replies((grid, grid) for grid in right))
    yield Check("at the second attempt", _replies(zip(wrong, right, strict=True)))
    yield Check("another cell", _replies((grid, grid) for grid in wrong), passes=False)
    yield Check("another row", _replies(([*grid, grid[0]],) * 2 for grid in right), passes=False)
    if len(right) > 1:
        yield Check(
            "one of the inputs",
            _replies([(right[0],) * 2, *((grid, grid) for grid in wrong[1:])]),
            passes=False,
        )
    for name, answer in {
        "no JSON": format_grid(right[0]),
        "something behind it": f"{json.dumps(right[0])} (see [1])",
        "empty": "",
    }.items():
        yield Check(name, [assistant(answer)], passes=False)


def _replies(attempts: Iterable[Sequence[list[list[int]]]]) -> list[Message]:
    return [assistant(f"It is:\n{json.dumps(grid)}") for tried in attempts for grid in tried]
