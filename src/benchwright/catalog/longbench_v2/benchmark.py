"""Assembly of LongBench v2 from its rows, prompts and scorer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchwright.catalog.asking import PlainBenchmark, assistant
from benchwright.catalog.benchmark import About, Benchmark, Check, Figure, Graded, Options
from benchwright.catalog.breakdowns import mean
from benchwright.catalog.grading import GradeScorer
from benchwright.catalog.letters import letter_checks
from benchwright.catalog.longbench_v2 import rows
from benchwright.catalog.longbench_v2.grading import grade_documented, grade_stated
from benchwright.catalog.longbench_v2.solver import ReadAndAnswer, letter_only, step_by_step, zero_shot
from benchwright.records import FAILED, Sample

COMPENSATION = 0.25
"""Score of an answer without a letter in the official "compensated" figures: a guess among four options."""

PARTS = {"difficulty": ("easy", "hard"), "length": ("short", "medium", "long")}

PROMPTS = {None: zero_shot, "cot": step_by_step, "documented": letter_only}


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark in the variant that `about` describes."""
    documented = about.variant == "documented"
    most = options.integer("max_input_tokens", 0) or None
    grade = grade_documented if documented else grade_stated
    return PlainBenchmark(
        about=about,
        samples=rows.samples,
        solver=ReadAndAnswer(PROMPTS[about.variant], most=most, twice=about.variant == "cot"),
        scorers=(GradeScorer(about.metric, "1", grade),),
        checks=letter_checks(str) if documented else _checks,
        figures=figures,
    )


def figures(graded: Iterable[Graded]) -> Sequence[Figure]:
    """Return the official figures: the accuracies, and the "compensated" accuracy.

    The latter counts an answer without a letter as a guess.
    """
    parts: dict[str, list[float]] = {part: [] for parts in PARTS.values() for part in parts}
    compensated: list[float] = []
    for one in graded:
        for label in PARTS:
            parts[one.labels[label]].append(one.value or 0.0)
        guess = 0.0 if one.status in FAILED else COMPENSATION
        compensated.append(guess if one.value is None else one.value)
    return [
        *(Figure(f"accuracy_{part}", mean(values)) for part, values in parts.items()),
        Figure("accuracy_compensated", mean(compensated)),
    ]


def _checks(sample: Sample) -> Iterator[Check]:
    right = sample.content["answer"]
    yield from letter_checks("The correct answer is ({})".format)(sample)
    yield Check("in bold", [assistant(f"**The correct answer is ({right})**.")])
    yield Check("without brackets", [assistant(f"The correct answer is {right}.")])
    for name, said in {
        "another beginning": f"the correct answer is ({right})",
        "in lower case": f"The correct answer is ({right.lower()})",
        "the letter alone": right,
    }.items():
        yield Check(name, [assistant(said)], passes=False)
