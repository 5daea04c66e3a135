"""BFCL as llm-benchmarker documents it: there is one expected answer, and its calls may come in any order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from benchwright.catalog.benchmark import About, Check, Figure, GradedTrial
from benchwright.catalog.bfcl.calls import Call, DecodingError, format_calls, read_tool_calls
from benchwright.catalog.bfcl.categories import CATEGORIES
from benchwright.catalog.bfcl.checks import checks
from benchwright.catalog.bfcl.figures import figures
from benchwright.catalog.bfcl.gold_answers import gold_calls
from benchwright.catalog.bfcl.rows import ClassSources, samples
from benchwright.catalog.bfcl.solver import SingleTurnSolver
from benchwright.catalog.bfcl.tools import tool_name
from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.data.datasets import Source
from benchwright.engine.protocols import Score, Scorer, Session, Solver
from benchwright.records import Message, Outcome, Sample, Trial
from benchwright.runs.keys import fingerprint

SINGLE_TURN_CATEGORIES = frozenset(
    name for name, one in CATEGORIES.items() if one.check_kind not in ("multi_turn", "relevance", "memory")
)
"""The single-turn categories. In tasks that expect no call, an answer without a call is right."""

PYTHON_EQUAL_DECOY_NAMES = ("a boolean for an integer", "a float for an integer")
"""Names of decoys that are wrong by the official rules, but may be right by llm-benchmarker's.

Their values may equal the right values in Python, in which True == 1 and 1.0 == 1.
"""


class DocumentedScorer:
    """A scorer by the rule that llm-benchmarker documents.

    An answer is right if it has as many calls as expected, and each call equals an expected call.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("bfcl-documented", name, "1")

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return the score of one outcome."""
        last = outcome.messages[-1] if outcome.messages else {}
        return verdict_score(grade(sample.content, last, outcome.answer))


def grade(content: dict[str, Any], message: Message, text: str) -> Verdict:
    """Grade the tool calls of a message. If the message has no tool calls, grade the calls found in its text."""
    from benchwright.catalog.llm_benchmarker_api.evaluators.ast_eval import (
        compare_function_calls,
        parse_function_call,
    )

    category = CATEGORIES[content["category"]]
    expected = [_plain(call) for call in expected_calls(content)]
    details: dict[str, Any] = {"category": category.name, "group": category.group}
    try:
        predicted = [_plain(call) for call in read_tool_calls(message.get("tool_calls") or ())]
    except (DecodingError, TypeError) as error:
        details |= {"error": str(error)}
        return Verdict(0.0, text, expected, details=details)
    predicted = predicted or parse_function_call(text)
    same, compared = compare_function_calls(predicted, expected)
    said = "; ".join(format_calls([Call(one["name"], one["arguments"])]) for one in predicted) or text
    return Verdict(float(same), said, expected, details=details | compared)


def expected_calls(content: dict[str, Any]) -> list[Call]:
    """Return the calls of the first possible answer, with tool names. Return [] if no call is expected."""
    if not content["answer"]:
        return []
    calls = gold_calls(CATEGORIES[content["category"]], content["functions"], content["answer"])
    return [Call(tool_name(call.name), call.arguments) for call in calls]


def _plain(call: Call) -> dict[str, Any]:
    return msgspec.structs.asdict(call)


class DocumentedBfcl:
    """The variant of BFCL that llm-benchmarker documents. Implements `benchmark.Benchmark`."""

    def __init__(self, about: About, wanted: frozenset[str]) -> None:
        self.about = about
        self.departures: Sequence[str] = ()
        self.scorers: Sequence[Scorer] = (DocumentedScorer(about.metric),)
        self._wanted = (wanted & SINGLE_TURN_CATEGORIES) or wanted

    def samples(self, source: Source) -> Iterator[Sample]:
        """Yield the single-turn tasks of the selected categories."""
        for sample in samples(source, self._wanted, ClassSources()):
            if sample.labels["category"] in SINGLE_TURN_CATEGORIES:
                yield sample

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Solver]:
        """Yield the solver. No server or sandbox has to be started."""
        yield _AskOnce()

    def checks(self, sample: Sample) -> Iterator[Check]:
        """Yield the gold answer to a sample, then decoys.

        A gold answer that the official rules reject is not marked as a known failure here, because it can
        pass.
        """
        for check in checks("tools", sample):
            if check.name not in PYTHON_EQUAL_DECOY_NAMES:
                yield msgspec.structs.replace(check, reason=None)

    def figures(self, graded: Iterable[GradedTrial]) -> Sequence[Figure]:
        """Return the scores of categories and leaderboard groups."""
        return figures(graded)


class _AskOnce:
    """A solver that offers the functions as tools, and sends one request."""

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Run one trial, and return its outcome."""
        return await SingleTurnSolver("tools").ask(trial, session)
