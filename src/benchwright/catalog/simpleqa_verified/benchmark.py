"""SimpleQA Verified put together: SimpleQA with other rows and another prompt of the judge."""

from __future__ import annotations

from pathlib import Path

from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.simpleqa.benchmark import judge_text, put_together
from benchwright.catalog.simpleqa.grading import JudgePrompt
from benchwright.catalog.simpleqa.rows import verified_samples


def make(about: About, options: Options) -> Benchmark:
    """The benchmark, whose judge is asked with its server's usual settings."""
    return put_together(about, options, verified_samples, JudgePrompt(judge_text(Path(__file__))))
