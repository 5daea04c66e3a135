"""Assembly of Multi-IF from its rows, solver, rules and scorer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import msgspec

from benchwright.catalog.asking import assistant
from benchwright.catalog.benchmark import GOLD, About, Benchmark, Check, Figure, GradedTrial, Options
from benchwright.catalog.breakdowns import mean
from benchwright.catalog.ifeval.answer_building import build_answer
from benchwright.catalog.ifeval.benchmark import about_with_splitter
from benchwright.catalog.ifeval.checks import CONTRADICTORY_REASON, find_breaking_answer
from benchwright.catalog.ifeval.grading import AccuracyCounter, follows_documented
from benchwright.catalog.ifeval.rules import FollowsInstruction
from benchwright.catalog.ifeval.splitters import find_splitter
from benchwright.catalog.multi_if import rows
from benchwright.catalog.multi_if.grading import TurnScorer, grade, grade_documented
from benchwright.catalog.multi_if.rules import build_rules
from benchwright.catalog.multi_if.solver import TurnSequenceSolver
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Scorer, Solver
from benchwright.records import Sample


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark in the variant that `about` describes."""
    if about.variant == "documented":
        return MultiIf(about, (TurnScorer(about.metric, "1", grade_documented),), follows_documented)
    splitter = find_splitter(options.data_dir)
    scorer = TurnScorer(about.metric, f"2-{splitter.fingerprint}", partial(grade, splitter))
    return MultiIf(
        about_with_splitter(about, splitter), (scorer,), build_rules(splitter).follows, splitter.departures
    )


class MultiIf(msgspec.Struct, frozen=True):
    """The Multi-IF benchmark: one to three turns in one conversation.

    Each response must follow all instructions given so far.
    """

    about: About
    scorers: Sequence[Scorer]
    follows: FollowsInstruction
    departures: Sequence[str] = ()

    def samples(self, source: Source) -> Iterator[Sample]:
        """Yield one sample per conversation."""
        return rows.samples(source)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Yield the solver. It needs no server or sandbox to be started."""
        yield TurnSequenceSolver()

    def checks(self, sample: Sample) -> Iterator[Check]:
        """Yield checks of the grader: answers that follow all instructions, and answers that break one.

        There is one check with a broken instruction for each turn.
        """
        turns = sample.content["turns"]
        answers = [build_answer(self.follows, turn["instructions"]) for turn in turns]
        gold = [assistant(text) for text, _ in answers]
        all_followed = all(followed for _, followed in answers)
        yield Check(GOLD, gold, reason=None if all_followed else CONTRADICTORY_REASON)
        for number, turn in enumerate(turns):
            broken = find_breaking_answer(self.follows, turn["instructions"][-1], answers[number][0])
            if broken is not None:
                replies = [*gold[:number], assistant(broken), *gold[number + 1 :]]
                yield Check(f"turn {number + 1} breaks an instruction", replies, passes=False)
        yield Check("empty", [assistant("")], passes=False)

    def figures(self, graded: Iterable[GradedTrial]) -> Sequence[Figure]:
        """Return the mean of the four published accuracies for each turn, overall and per language."""
        return figures(graded)


MAX_TURNS = 3


def figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return the mean of the four published accuracies for each turn, over all conversations and by language."""
    overall = [AccuracyCounter() for _ in range(MAX_TURNS)]
    languages: dict[str, list[AccuracyCounter]] = {}
    for one in graded:
        language = languages.setdefault(one.labels["language"], [AccuracyCounter() for _ in range(MAX_TURNS)])
        counts = one.detail.get("per_turn", [])
        for turn, instructions in enumerate(one.labels["instructions"].split("/")):
            for accuracies in (overall[turn], language[turn]):
                accuracies.add_response(counts[turn] if counts else {}, int(instructions))
    return [
        figure
        for name, turns in [
            ("", overall),
            *((f"_{name}", turns) for name, turns in sorted(languages.items())),
        ]
        for figure in _figures(name, turns)
    ]


def _figures(name: str, turns: Sequence[AccuracyCounter]) -> list[Figure]:
    means = [_mean_of_known(accuracies.compute_accuracies()) for accuracies in turns]
    return [
        *(Figure(f"turn_{number}{name}", one) for number, one in enumerate(means, 1) if one is not None),
        Figure(f"turns{name}", _mean_of_known(means)),
    ]


def _mean_of_known(values: Iterable[float | None]) -> float | None:
    return mean([value for value in values if value is not None])
