"""Assembly of IFBench from its rows, prompt, rules and scorer."""

from __future__ import annotations

from functools import partial

from benchwright.catalog.asking import AskOnce, PlainBenchmark
from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.grading import GradeScorer
from benchwright.catalog.ifbench.answer_building import build_answer
from benchwright.catalog.ifbench.grading import TIME_LIMIT_SECONDS, grade, make_loose_check
from benchwright.catalog.ifbench.language_tools import find_tools
from benchwright.catalog.ifbench.rows import samples
from benchwright.catalog.ifeval.benchmark import about_with_splitter, prompt_messages
from benchwright.catalog.ifeval.checks import checks
from benchwright.catalog.ifeval.grading import figures


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark with these options.

    Raises:
        UserError: If a library that the rules need is not installed.
    """
    tools = find_tools(options.data_dir)
    scorer = GradeScorer(
        about.metric,
        f"1, {tools.fingerprint}",
        partial(grade, tools),
        offloaded=("instructions",),
        seconds=TIME_LIMIT_SECONDS,
    )
    return PlainBenchmark(
        about=about_with_splitter(about, tools.splitter),
        samples=partial(samples, tagged=tools.tagger_directory is not None),
        solver=AskOnce(prompt_messages),
        scorers=(scorer,),
        checks=checks(make_loose_check(tools), build_answer),
        figures=figures,
        departures=tools.departures,
    )
