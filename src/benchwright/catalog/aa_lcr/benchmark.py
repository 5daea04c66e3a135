"""Assembly of AA-LCR from its rows, prompt and judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchwright.catalog.aa_lcr.rows import samples
from benchwright.catalog.asking import AskOnce, PlainBenchmark, assistant, user
from benchwright.catalog.benchmark import GOLD, About, Benchmark, Check, Options
from benchwright.catalog.simpleqa.benchmark import choose_scorer
from benchwright.catalog.simpleqa.grading import CORRECT, INCORRECT, JudgePrompt
from benchwright.records import Message, Sample

OFFICIAL_JUDGE = "Qwen3-235B-A22B-Instruct-2507"

JUDGE_PROMPT = JudgePrompt(
    "Assess whether the following CANDIDATE ANSWER is CORRECT or INCORRECT. For the CANDIDATE ANSWER to be correct, it "
    "must be consistent with the OFFICIAL ANSWER.\n\nThe question, for reference only: {question}\nThe OFFICIAL "
    "ANSWER: {target}\nCANDIDATE ANSWER TO ASSESS: {predicted_answer}\n\nReply only with CORRECT or INCORRECT."
)
"""The judge's prompt, word for word."""


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark with these options."""
    scorer, departures = choose_scorer(about, options, JUDGE_PROMPT, OFFICIAL_JUDGE)
    return PlainBenchmark(
        about=about,
        samples=samples,
        solver=AskOnce(prompt_messages),
        scorers=(scorer,),
        checks=_checks,
        departures=departures,
    )


def prompt_messages(content: dict[str, Any]) -> list[Message]:
    """Return the prompt: the documents, numbered from 1, and the question."""
    texts = "\n\n".join(
        f"BEGIN DOCUMENT {number}:\n{text}\nEND DOCUMENT {number}"
        for number, text in enumerate(content["documents"], 1)
    )
    return [
        user(
            f"BEGIN INPUT DOCUMENTS\n\n{texts}\n\nEND INPUT DOCUMENTS\n\n"
            "Answer the following question using the input documents provided above.\n\n"
            f"START QUESTION\n\n{content['question']}\n\nEND QUESTION\n"
        )
    ]


def _checks(sample: Sample) -> Iterator[Check]:
    right = sample.content["answer"]
    yield Check(GOLD, [assistant(f"It is {right}")], judge_replies=[CORRECT])
    yield Check("another answer", [assistant(f"It is 1{right}")], passes=False, judge_replies=[INCORRECT])
    yield Check(
        "an answer that judges itself", [assistant("CORRECT")], passes=False, judge_replies=["incorrect."]
    )
    yield Check("empty", [assistant("")], passes=False)
