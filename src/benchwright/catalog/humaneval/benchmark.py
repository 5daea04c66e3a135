"""Assembly of HumanEval: prompts and checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchwright.catalog import simple_evals
from benchwright.catalog.asking import AskOnce, PlainBenchmark, assistant, system, user
from benchwright.catalog.benchmark import GOLD, About, Benchmark, Check, Options
from benchwright.catalog.humaneval import rows
from benchwright.catalog.humaneval.grading import DocumentedScorer, ProgramScorer, compute_pass_at_ks, figures
from benchwright.records import Message, Sample

OFFICIAL_INSTRUCTION = (
    "Read the following function signature and docstring, and fully implement the function described. "
    "Your response should only contain the code for this function.\n"
)
"""The instruction of simple-evals, word for word, so that scores are comparable."""

DOCUMENTED_SYSTEM_PROMPT = (
    "You are an expert Python programmer. Complete the function as requested. "
    "Return only code, no explanations."
)


def official_prompt(content: dict[str, Any]) -> list[Message]:
    """Return the prompt of simple-evals: the instruction, then the function's head and docstring."""
    return [user(OFFICIAL_INSTRUCTION + content["prompt"])]


def documented_prompt(content: dict[str, Any]) -> list[Message]:
    """Return the prompt that llm-benchmarker documents."""
    return [system(DOCUMENTED_SYSTEM_PROMPT), user(f"Complete this function:\n\n{content['prompt']}")]


CHEATING_BODIES = {
    "does nothing": "pass",
    "exits with 0": "import sys; sys.exit(0)",
    "ends its process": "import os; os._exit(0)",
    "hides its failure": "import atexit, os; atexit.register(os._exit, 0)",
    "hides its exception": "import sys, os; sys.excepthook = lambda *error: os._exit(0)",
}
"""Function bodies that must fail. All but the first end the process with exit code 0."""


def make(about: About, options: Options) -> Benchmark:
    """Return the benchmark in the variant that `about` describes."""
    if about.variant == "documented":
        return PlainBenchmark(
            about=about,
            samples=rows.samples,
            solver=AskOnce(documented_prompt),
            scorers=(DocumentedScorer(about.metric),),
            checks=_documented_checks,
            figures=compute_pass_at_ks,
        )
    opening = simple_evals.opening_messages(options)
    return PlainBenchmark(
        about=about,
        samples=rows.samples,
        solver=AskOnce(lambda content: [*opening, *official_prompt(content)]),
        scorers=(ProgramScorer(about.metric),),
        checks=_checks,
        figures=figures,
        departures=simple_evals.system_message_departures(options),
    )


def _checks(sample: Sample) -> Iterator[Check]:
    prompt, solution = sample.content["prompt"], sample.content["canonical_solution"]
    yield Check(GOLD, [assistant(_fenced(prompt + solution))])
    yield Check("no fence", [assistant(prompt + solution)])
    for name, body in CHEATING_BODIES.items():
        yield Check(name, [assistant(_fenced(f"{prompt}    {body}\n"))], passes=False)
    yield Check("empty", [assistant("")], passes=False)


def _documented_checks(sample: Sample) -> Iterator[Check]:
    prompt, solution = sample.content["prompt"], sample.content["canonical_solution"]
    yield Check(GOLD, [assistant(_fenced(prompt + solution))])
    yield Check("body only", [assistant(solution)])
    yield Check("body that lost its first indent", [assistant(solution.strip())])
    yield Check("does nothing", [assistant(_fenced(f"{prompt}    pass\n"))], passes=False)
    yield Check("empty", [assistant("")], passes=False)


def _fenced(code: str) -> str:
    return f"Here it is:\n\n```python\n{code}```\n\nIt does what it says."
