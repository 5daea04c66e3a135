"""Assembly of MATH-500 from its rows, prompt and scorer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchwright.catalog.asking import AskOnce, PlainBenchmark, assistant, user
from benchwright.catalog.benchmark import GOLD, About, Benchmark, Check, Options
from benchwright.catalog.grading import GradeScorer
from benchwright.catalog.math_500.grading import (
    CPU_SECONDS,
    LIBRARY_NAME,
    PUBLISHED_VERSION,
    grade,
    library_version,
    load_library,
)
from benchwright.catalog.math_500.rows import samples
from benchwright.records import Message, Sample

INSTRUCTION = "Please reason step by step, and put your final answer within \\boxed{}."
"""The instruction that DeepSeek-R1's card recommends for mathematics, word for word."""


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark with these options.

    Raises:
        UserError: If math-verify, which compares the answers, is not installed.
    """
    installed = library_version()
    scorer = GradeScorer(
        about.metric,
        f"3, {LIBRARY_NAME} {installed}",
        grade,
        offloaded=("answer",),
        seconds=CPU_SECONDS,
        prepare=load_library,
    )
    return PlainBenchmark(
        about=about,
        samples=samples,
        solver=AskOnce(with_instruction),
        scorers=(scorer,),
        checks=_checks,
        departures=()
        if installed == PUBLISHED_VERSION
        else (f"{LIBRARY_NAME} {installed} instead of {PUBLISHED_VERSION}",),
    )


def with_instruction(content: dict[str, Any]) -> list[Message]:
    """Return the problem and, after a blank line, the instruction. There is no system message."""
    return [user(f"{content['problem']}\n\n{INSTRUCTION}")]


def _checks(sample: Sample) -> Iterator[Check]:
    right = sample.content["answer"]
    yield Check(GOLD, [assistant(f"Let me think.\n\n\\boxed{{{right}}}")])
    yield Check("the last box counts", [assistant(f"First \\boxed{{-77}}, no: \\boxed{{ {right}. }}")])
    for name, answer in {
        "another answer": "\\boxed{-77777}",
        "an earlier box": f"\\boxed{{{right}}}\nNo: \\boxed{{-77777}}",
        "without a box": f"The answer is {right}",
        "empty": "",
    }.items():
        yield Check(name, [assistant(answer)], passes=False)
