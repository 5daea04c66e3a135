"""Assembly of MathArena's competitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchwright.catalog.asking import PlainBenchmark, assistant
from benchwright.catalog.benchmark import GOLD, About, Benchmark, Check, Figure, GradedTrial
from benchwright.catalog.breakdowns import mean
from benchwright.catalog.grading import GradeScorer
from benchwright.catalog.matharena.grading import CPU_SECONDS, grade
from benchwright.catalog.matharena.rows import samples_reader
from benchwright.catalog.matharena.solver import BoxedAnswerSolver
from benchwright.records import Sample

HMMT_INSTRUCTION = "Put your final answer within \\boxed{}."
AIME_INSTRUCTION = f"{HMMT_INSTRUCTION}\nThe answer is an integer between 0 and 999 inclusive."
"""`HMMT_INSTRUCTION`: the instruction for HMMT. `AIME_INSTRUCTION`: the instruction for AIME.

Both are MathArena's, word for word (configs/competitions).
"""


def competition_benchmark(about: About, instruction: str) -> Benchmark:
    """Return the benchmark of a competition. `instruction`: the text before each problem."""
    return PlainBenchmark(
        about=about,
        samples=samples_reader(about),
        solver=BoxedAnswerSolver(instruction),
        scorers=(GradeScorer(about.metric, "3", grade, offloaded=("answer",), seconds=CPU_SECONDS),),
        checks=_checks,
        figures=figures,
    )


def figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return the share of trials in which the model was asked a second time, for a boxed answer."""
    asked = [float(bool(one.detail.get("last_chance"))) for one in graded]
    return [
        Figure(
            "last_chance", mean(asked), "the share of answers without a box, which was asked for once more"
        )
    ]


def _checks(sample: Sample) -> Iterator[Check]:
    right = sample.content["answer"]
    yield Check(GOLD, [assistant(f"Let me think.\n\n\\boxed{{{right}}}")])
    yield Check("at the second time", [assistant("It is clear."), assistant(f"\\boxed{{{right}}}")])
    yield Check("the last box counts", [assistant(f"Not \\boxed{{-1}}.\n\\boxed{{{right}}}")])
    for name, answer in {
        "another answer": f"\\boxed{{{right}+1}}",
        "an earlier box": f"\\boxed{{{right}}}\nNo: \\boxed{{-1}}",
        "no answer": "\\boxed{None}",
        "a tower of powers": "\\boxed{9^{9^{9^{9999}}}}",
        "empty": "",
    }.items():
        yield Check(name, [assistant(answer)], passes=False)
