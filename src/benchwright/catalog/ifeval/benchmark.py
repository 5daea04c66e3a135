"""Assembly of IFEval from its rows, prompt, rules and scorer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from benchwright.catalog.asking import AskOnce, PlainBenchmark, user
from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.grading import GradeScorer
from benchwright.catalog.ifeval import rows
from benchwright.catalog.ifeval.checks import checks
from benchwright.catalog.ifeval.grading import (
    build_rules,
    figures,
    follows_documented,
    grade,
    grade_documented,
)
from benchwright.catalog.ifeval.rules import FollowsInstruction
from benchwright.catalog.ifeval.splitters import Splitter, find_splitter
from benchwright.engine.protocols import Scorer
from benchwright.records import Message


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark in the variant that `about` describes."""
    if about.variant == "documented":
        return _benchmark(
            about,
            GradeScorer(about.metric, "1", grade_documented, offloaded=("instructions",)),
            follows_documented,
        )
    splitter = find_splitter(options.data_dir)
    scorer = GradeScorer(
        about.metric, f"2-{splitter.fingerprint}", partial(grade, splitter), offloaded=("instructions",)
    )
    return _benchmark(
        about_with_splitter(about, splitter), scorer, build_rules(splitter).follows, splitter.departures
    )


def _benchmark(
    about: About, scorer: Scorer, follows: FollowsInstruction, departures: Sequence[str] = ()
) -> Benchmark:
    return PlainBenchmark(
        about=about,
        samples=rows.samples,
        solver=AskOnce(prompt_messages),
        scorers=(scorer,),
        checks=checks(follows),
        figures=figures,
        departures=departures,
    )


def about_with_splitter(about: About, splitter: Splitter) -> About:
    """Return the metadata with the name of the sentence splitter added to the protocol."""
    return msgspec.structs.replace(about, protocol=f"{about.protocol}; sentences split by {splitter.name}")


def prompt_messages(content: dict[str, Any]) -> list[Message]:
    """Return the dataset's prompt, unchanged."""
    return [user(content["prompt"])]
