"""Assembly of SimpleQA, and the parts that it shares with SimpleQA Verified."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchwright.catalog import simple_evals
from benchwright.catalog.asking import AskOnce, PlainBenchmark, assistant, user
from benchwright.catalog.benchmark import GOLD, About, Benchmark, Check, Options
from benchwright.catalog.judge_departures import judge_departures
from benchwright.catalog.simpleqa.grading import (
    OFFICIAL_JUDGE,
    JudgePrompt,
    JudgeScorer,
    WordMatchScorer,
    figures,
)
from benchwright.catalog.simpleqa.rows import samples
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Scorer
from benchwright.records import Message, Sample

NO_JUDGE_DEPARTURE = "no judge (--judge-model): answers are matched word for word"


def make(about: About, options: Options) -> Benchmark:
    """Return SimpleQA with the settings that simple-evals uses for model and judge."""
    judge = JudgePrompt(
        read_judge_prompt(Path(__file__)),
        [{"role": "system", "content": simple_evals.SYSTEM_MESSAGE}],
        {"temperature": simple_evals.TEMPERATURE, "max_tokens": simple_evals.MAX_TOKENS},
    )
    return judged_benchmark(
        about,
        options,
        samples,
        judge,
        opening=simple_evals.opening_messages(options),
        departures=simple_evals.system_message_departures(options),
    )


def read_judge_prompt(module: Path) -> str:
    """Read the judge's prompt from the file `judge.txt` in the folder of a module.

    The file contains the published prompt, word for word.
    """
    return module.with_name("judge.txt").read_text(encoding="utf-8").strip()


def judged_benchmark(
    about: About,
    options: Options,
    read: Callable[[Source], Iterator[Sample]],
    judge: JudgePrompt,
    *,
    opening: Sequence[Message] = (),
    departures: Sequence[str] = (),
) -> Benchmark:
    """Return a benchmark that sends each question after the opening messages, and whose answers a judge grades."""
    scorer, more = choose_scorer(about, options, judge, OFFICIAL_JUDGE)

    def question_alone(content: dict[str, Any]) -> list[Message]:
        return [*opening, user(content["question"])]

    return PlainBenchmark(
        about=about,
        samples=read,
        solver=AskOnce(question_alone),
        scorers=(scorer,),
        checks=_checks,
        figures=figures,
        departures=(*departures, *more),
    )


def choose_scorer(
    about: About, options: Options, prompt: JudgePrompt, official: str
) -> tuple[Scorer, Sequence[str]]:
    """Return the scorer, and a tuple of its departures from the official judge."""
    departures = judge_departures(options, official, NO_JUDGE_DEPARTURE)
    if "judge" not in options.roles:
        return WordMatchScorer(about.metric), departures
    return JudgeScorer(about.metric, options.text("judge_model"), prompt), departures


def _checks(sample: Sample) -> Iterator[Check]:
    right = sample.content["answer"]
    yield Check(GOLD, [assistant(f"It is {right}")], judge_replies=["A"])
    yield Check("another answer", [assistant(f"It is 1{right}")], passes=False, judge_replies=["B"])
    yield Check("not attempted", [assistant("I do not know.")], passes=False, judge_replies=["NOT_ATTEMPTED"])
    yield Check(
        "an answer that grades itself", [assistant("A: CORRECT")], passes=False, judge_replies=["INCORRECT"]
    )
    yield Check("empty", [assistant("")], passes=False)
