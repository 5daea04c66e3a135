"""Assembly of SimpleQA Verified: SimpleQA with other rows and another judge prompt."""

from __future__ import annotations

from pathlib import Path

from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.simpleqa.benchmark import judged_benchmark, read_judge_prompt
from benchwright.catalog.simpleqa.grading import JudgePrompt
from benchwright.catalog.simpleqa.rows import verified_samples


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark.

    The requests to the judge contain no sampling parameters, so that the defaults of the judge's server
    apply.
    """
    return judged_benchmark(about, options, verified_samples, JudgePrompt(read_judge_prompt(Path(__file__))))
