"""Grades BFCL's answers, and builds the details of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchwright.catalog.bfcl.call_checker import check_calls
from benchwright.catalog.bfcl.call_decoding import decode_calls
from benchwright.catalog.bfcl.calls import Call, DecodingError, Mistake, format_calls, read_tool_calls
from benchwright.catalog.bfcl.categories import CATEGORIES, Category
from benchwright.catalog.bfcl.execution import Executor
from benchwright.catalog.bfcl.memory import check_answer, last_response
from benchwright.catalog.bfcl.multi_turn import format_turns, grade_conversation
from benchwright.catalog.bfcl.solver import CallMode
from benchwright.catalog.bfcl.tools import tool_name
from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.engine.protocols import Score, Session
from benchwright.records import Message, Outcome, Sample
from benchwright.runs.keys import fingerprint


def grade_tools(content: dict[str, Any], message: Message, text: str) -> Verdict:
    """Grade an assistant message. It has tool calls, or only text."""
    category = CATEGORIES[content["category"]]
    tool_calls = message.get("tool_calls") or []
    try:
        if text and not tool_calls:
            raise DecodingError("the answer is text, no tool call")
        calls = read_tool_calls(tool_calls)
    except TypeError as error:
        return _undecoded(
            category, content, text, Mistake("ast_decoder:decoder_wrong_output_format", str(error))
        )
    except DecodingError as error:
        return _undecoded(category, content, text, Mistake(error.kind, str(error)))
    return _verdict(category, content, format_calls(calls), _wrong(category, content, calls, tools=True))


def grade_text(content: dict[str, Any], text: str) -> Verdict:
    """Grade an answer with calls written as text."""
    category = CATEGORIES[content["category"]]
    checked = "relevance" not in category.check_kind
    try:
        calls = decode_calls(text, category.language if checked else "python")
    except DecodingError as error:
        return _undecoded(category, content, text, Mistake(error.kind, str(error)))
    return _verdict(category, content, format_calls(calls), _wrong(category, content, calls, tools=False))


def _wrong(category: Category, content: dict[str, Any], calls: Sequence[Call], tools: bool) -> Mistake | None:
    if category.check_kind == "irrelevance":
        return Mistake("irrelevance_error:decoder_success", "A call where none fits.") if calls else None
    if category.check_kind == "relevance":
        return None if calls else Mistake("relevance_error:decoder_failed", "No call where one fits.")
    return check_calls(
        category, content["functions"], calls, content["answer"], tool_name if tools else _as_it_is
    )


def _as_it_is(name: str) -> str:
    return name


def _undecoded(category: Category, content: dict[str, Any], text: str, wrong: Mistake) -> Verdict:
    """Grade an answer in which no call could be read. Such an answer is right only if the task expects no call."""
    if category.check_kind == "relevance":
        wrong = Mistake("relevance_error:decoder_failed", wrong.message)
    return _verdict(category, content, text, None if category.check_kind == "irrelevance" else wrong)


def _verdict(category: Category, content: dict[str, Any], predicted: str, wrong: Mistake | None) -> Verdict:
    return build_verdict(category, predicted, content.get("answer"), wrong)


def build_verdict(category: Category, predicted: str, expected: Any, wrong: Mistake | None) -> Verdict:
    """Build the verdict. `wrong`: the mistake in the answer; None if the answer is right.

    The details are category and group. For a wrong answer, they also contain the official error type and a
    message.
    """
    details = {"category": category.name, "group": category.group}
    if wrong is not None:
        details |= {"error_type": wrong.kind, "error": wrong.message}
    why = None if wrong is None else wrong.message
    return Verdict(float(wrong is None), predicted, expected, details=details, explanation=why)


GRADING_VERSIONS: dict[CallMode, str] = {"tools": "1", "prompt": "2"}
"""Mapping from a mode (`tools` or `prompt`) to the version of its grading.

The version is increased whenever an answer in that mode would be graded differently.
"""


class BfclScorer:
    """A scorer that applies the official rules to an outcome."""

    def __init__(self, name: str, mode: CallMode, executor: Executor) -> None:
        self.name = name
        self._mode = mode
        self._executor = executor
        self.fingerprint = fingerprint("bfcl", name, GRADING_VERSIONS[mode], mode)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return the score of one outcome."""
        return verdict_score(await self._graded(sample, outcome))

    async def _graded(self, sample: Sample, outcome: Outcome) -> Verdict:
        content = sample.content
        category = CATEGORIES[content["category"]]
        if category.check_kind == "multi_turn":
            wrong = await grade_conversation(self._executor, content, outcome.artifacts)
            return build_verdict(category, format_turns(outcome.artifacts), content["answer"], wrong)
        if category.check_kind == "memory":
            wrong = check_answer(outcome.messages, outcome.artifacts, content["answer"])
            said = last_response(outcome.messages, outcome.artifacts) or ""
            return build_verdict(category, said, content["answer"], wrong)
        if self._mode == "prompt":
            return grade_text(content, outcome.answer)
        last = outcome.messages[-1] if outcome.messages else {}
        return grade_tools(content, last, outcome.answer)
