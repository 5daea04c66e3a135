"""Assembly of IFBench from its rows, prompt, rules and scorer."""

from __future__ import annotations

from functools import partial

from benchwright.catalog.asking import AskOnce, PlainBenchmark
from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.grading import GradeScorer
from benchwright.catalog.ifbench.answers import build_answer
from benchwright.catalog.ifbench.grading import TIME_LIMIT_SECONDS, follows_loosely, grade
from benchwright.catalog.ifbench.rows import samples
from benchwright.catalog.ifbench.tools import find_tools
from benchwright.catalog.ifeval.benchmark import messages, with_splitter
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
        about=with_splitter(about, tools.splitter),
        samples=partial(samples, tagged=tools.tagger is not None),
        solver=AskOnce(messages),
        scorers=(scorer,),
        checks=checks(follows_loosely(tools), build_answer),
        figures=figures,
        departures=tools.departures,
    )
