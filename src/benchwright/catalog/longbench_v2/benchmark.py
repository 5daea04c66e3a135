"""Assembly of LongBench v2 from its rows, prompts and scorer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchwright.catalog.asking import PlainBenchmark, assistant
from benchwright.catalog.benchmark import About, Benchmark, Check, Figure, GradedTrial, Options
from benchwright.catalog.breakdowns import mean
from benchwright.catalog.grading import GradeScorer
from benchwright.catalog.longbench_v2 import rows
from benchwright.catalog.longbench_v2.grading import grade_documented, grade_stated
from benchwright.catalog.longbench_v2.solver import (
    FittedPromptSolver,
    documented_prompt,
    step_by_step_prompt,
    zero_shot_prompt,
)
from benchwright.catalog.multiple_choice import make_letter_checks
from benchwright.records import FAILED_STATUSES, Sample

GUESS_SCORE = 0.25
"""Score that the official "compensated" figures give an answer without a letter: a guess among four options."""

FIGURE_LABELS = {"difficulty": ("easy", "hard"), "length": ("short", "medium", "long")}

PROMPT_BUILDERS = {None: zero_shot_prompt, "cot": step_by_step_prompt, "documented": documented_prompt}


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark in the variant that `about` describes."""
    documented = about.variant == "documented"
    most = options.integer("max_input_tokens", 0) or None
    grade = grade_documented if documented else grade_stated
    return PlainBenchmark(
        about=about,
        samples=rows.samples,
        solver=FittedPromptSolver(PROMPT_BUILDERS[about.variant], most=most, twice=about.variant == "cot"),
        scorers=(GradeScorer(about.metric, "1", grade),),
        checks=make_letter_checks(str) if documented else _checks,
        figures=figures,
    )


def figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return the official figures: the accuracies, and the "compensated" accuracy.

    The "compensated" accuracy counts an answer without a letter as a guess.
    """
    parts: dict[str, list[float]] = {part: [] for parts in FIGURE_LABELS.values() for part in parts}
    compensated: list[float] = []
    for one in graded:
        for label in FIGURE_LABELS:
            parts[one.labels[label]].append(one.value or 0.0)
        guess = 0.0 if one.status in FAILED_STATUSES else GUESS_SCORE
        compensated.append(guess if one.value is None else one.value)
    return [
        *(Figure(f"accuracy_{part}", mean(values)) for part, values in parts.items()),
        Figure("accuracy_compensated", mean(compensated)),
    ]


def _checks(sample: Sample) -> Iterator[Check]:
    right = sample.content["answer"]
    yield from make_letter_checks("The correct answer is ({})".format)(sample)
    yield Check("in bold", [assistant(f"**The correct answer is ({right})**.")])
    yield Check("without brackets", [assistant(f"The correct answer is {right}.")])
    for name, said in {
        "another beginning": f"the correct answer is ({right})",
        "in lower case": f"The correct answer is ({right.lower()})",
        "the letter alone": right,
    }.items():
        yield Check(name, [assistant(said)], passes=False)
