"""Assembly of GPQA Diamond from its rows, solver and scorer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchwright.catalog import simple_evals
from benchwright.catalog.asking import PlainBenchmark, assistant
from benchwright.catalog.benchmark import GOLD, About, Benchmark, Check, Figure, GradedTrial, Options
from benchwright.catalog.breakdowns import mean
from benchwright.catalog.gpqa_diamond.grading import OrderedLetterScorer
from benchwright.catalog.gpqa_diamond.rows import OPTION_COUNT, right_letter, samples
from benchwright.catalog.gpqa_diamond.solver import OrderedChoicesSolver
from benchwright.catalog.multiple_choice import CHOICE_LETTERS
from benchwright.records import Sample


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark. An option decides whether a system message is sent."""
    return PlainBenchmark(
        about=about,
        samples=samples,
        solver=OrderedChoicesSolver(simple_evals.opening_messages(options)),
        scorers=(OrderedLetterScorer(about.metric),),
        checks=_checks,
        figures=figures,
        departures=simple_evals.system_message_departures(options),
    )


def figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return the share of scored trials in which the letter found by `lenient_letter` is right."""
    lenient = [float(bool(one.detail.get("lenient"))) for one in graded]
    return [
        Figure(
            "accuracy_lenient", mean(lenient), "the last stated letter, with brackets and markup or without"
        )
    ]


def _checks(sample: Sample) -> Iterator[Check]:
    right = right_letter(sample.content, 0)
    wrong = [letter for letter in CHOICE_LETTERS[:OPTION_COUNT] if letter != right]
    yield Check(GOLD, [assistant(f"Let me think.\n\nAnswer: {right}")])
    yield Check("between dollars", [assistant(f"answer : ${right}$")])
    for letter in wrong:
        yield Check(f"letter {letter}", [assistant(f"Let me think.\n\nAnswer: {letter}")], passes=False)
    for name, answer in {
        "the first letter counts": f"Answer: {wrong[0]}\nNo, wait.\nAnswer: {right}",
        "a lower-case letter": f"Answer: {right.lower()}",
        "in brackets": f"Answer: ({right})",
        "no letter": "hard to say",
        "empty": "",
    }.items():
        yield Check(name, [assistant(answer)], passes=False)
