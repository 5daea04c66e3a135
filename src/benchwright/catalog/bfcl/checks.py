"""Checks for BFCL: the gold answer of each sample, and decoys (wrong answers)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from benchwright.catalog.asking import assistant
from benchwright.catalog.benchmark import GOLD, Check
from benchwright.catalog.bfcl.calls import Call
from benchwright.catalog.bfcl.categories import CATEGORIES, Category
from benchwright.catalog.bfcl.gold_answers import (
    calls_as_message,
    calls_as_text,
    gold_calls,
    gold_calls_by_turn,
    unmatchable_reason,
)
from benchwright.catalog.bfcl.multi_turn import call_source_text
from benchwright.catalog.bfcl.solver import CallMode
from benchwright.catalog.bfcl.tools import tool_name
from benchwright.catalog.bfcl.value_checker import OPTIONAL_ARGUMENT_MARK
from benchwright.records import Message, Sample

REFUSAL_TEXT = "I cannot help with that."

BuildMessage = Callable[[Sequence[Call]], Message]


def checks(mode: CallMode, sample: Sample) -> Iterator[Check]:
    """Yield the gold answer to a sample, then decoys.

    `mode` decides whether the scripted replies are tool calls or text.
    """
    category = CATEGORIES[sample.content["category"]]
    if category.check_kind == "multi_turn":
        return _multi_turn(mode, sample.content)
    if category.check_kind == "memory":
        return _memory(mode, sample.content)
    write = partial(_written, mode, category, sample.content)
    if category.check_kind == "irrelevance":
        return _irrelevance(sample.content, write)
    if category.check_kind == "relevance":
        return _relevance(sample.content, write)
    return _calls(sample.content, category, write)


def _written(mode: CallMode, category: Category, content: dict[str, Any], calls: Sequence[Call]) -> Message:
    if mode == "prompt":
        return assistant(calls_as_text(calls, category.language))
    return calls_as_message(calls, tool_name)


def _irrelevance(content: dict[str, Any], write: BuildMessage) -> Iterator[Check]:
    yield Check(GOLD, [assistant(REFUSAL_TEXT)])
    yield Check("a call", [write([_some_call(content)])], passes=False)


def _relevance(content: dict[str, Any], write: BuildMessage) -> Iterator[Check]:
    yield Check(GOLD, [write([_some_call(content)])])
    yield Check("text only", [assistant(REFUSAL_TEXT)], passes=False)
    yield Check("empty", [assistant("")], passes=False)


def _some_call(content: dict[str, Any]) -> Call:
    name = content["functions"][0]["name"] if content["functions"] else "anything"
    return Call(name, {"a": 1})


def _calls(content: dict[str, Any], category: Category, write: BuildMessage) -> Iterator[Check]:
    calls = gold_calls(category, content["functions"], content["answer"])
    yield Check(
        GOLD, [write(calls)], reason=unmatchable_reason(category, content["functions"], content["answer"])
    )
    for name, decoy in _decoys(content, category, calls):
        yield Check(name, [write(decoy)], passes=False)
    yield Check("text only", [assistant(REFUSAL_TEXT)], passes=False)
    yield Check("empty", [assistant("")], passes=False)
    if message := write(calls).get("tool_calls"):
        broken = {**message[0], "function": {**message[0]["function"], "arguments": '{"a": '}}
        reply = {"role": "assistant", "content": None, "tool_calls": [broken, *message[1:]]}
        yield Check("arguments that are not valid JSON", [reply], passes=False)


def _decoys(
    content: dict[str, Any], category: Category, calls: list[Call]
) -> Iterator[tuple[str, list[Call]]]:
    first, rest = calls[0], calls[1:]
    yield "another name", [Call(f"other_{first.name}", first.arguments), *rest]
    yield "a parameter too many", [Call(first.name, {**first.arguments, "an_unlisted_one": "x"}), *rest]
    yield "a call too many", [*calls, calls[-1]]
    yield "no call", []
    document = next(one for one in content["functions"] if one["name"] == first.name)["parameters"]
    for name in [name for name in document.get("required", ()) if name in first.arguments][:1]:
        arguments = {key: value for key, value in first.arguments.items() if key != name}
        yield "a required parameter missing", [Call(first.name, arguments), *rest]
    if category.language == "python":
        for name, wrong in _wrong_types(document, content["answer"], first):
            yield name, [wrong, *rest]


def _wrong_types(document: dict[str, Any], answers: list[Any], call: Call) -> Iterator[tuple[str, Call]]:
    """Yield two decoys for the first parameter that accepts only integers: a boolean and a float as its value.

    Yield nothing if there is no such parameter.
    """
    for name, value in call.arguments.items():
        allowed = [one for answer in answers for one in answer.get(call.name, {}).get(name, ())]
        integers = all(type(one) is int for one in allowed if one != OPTIONAL_ARGUMENT_MARK)
        if document["properties"].get(name, {}).get("type") == "integer" and integers:
            yield "a boolean for an integer", Call(call.name, {**call.arguments, name: True})
            yield "a float for an integer", Call(call.name, {**call.arguments, name: float(value)})
            return


def _multi_turn(mode: CallMode, content: dict[str, Any]) -> Iterator[Check]:
    held_back = [function for functions in content["missed"].values() for function in functions]
    turns = gold_calls_by_turn([*content["functions"], *held_back], content["answer"])
    yield Check(GOLD, _replies(mode, turns))
    yield Check("text only", [assistant(REFUSAL_TEXT)], passes=False)
    number = next(number for number, calls in enumerate(turns) if calls)
    yield Check(
        "a turn without calls", _replies(mode, [*turns[:number], [], *turns[number + 1 :]]), passes=False
    )
    if len(turns) > 1:
        yield Check("no end to one turn", [_step(mode, turns[number])], passes=False)


def _memory(mode: CallMode, content: dict[str, Any]) -> Iterator[Check]:
    """Yield the checks for a question about a memory. Each check has a single reply.

    The earlier conversations, which must be held first, get that reply, too, because the last reply is
    repeated.
    """
    answer, *_ = content["answer"]
    yield Check(GOLD, [assistant(f"{{'answer': '{answer}', 'context': 'You said so.'}}")])
    yield Check("not known", [assistant("{'answer': 'I do not know', 'context': '?'}")], passes=False)
    yield Check("the answer within a word", [assistant(f"x{answer}x")], passes=False)
    yield Check("empty", [assistant("")], passes=False)
    endless = _step(mode, [Call(content["functions"][0]["name"], {})])
    yield Check("calls without end", [endless], passes=False)


def _replies(mode: CallMode, turns: Sequence[Sequence[Call]]) -> list[Message]:
    """Return the model's replies. Each turn consists of one step with all its calls, then a sentence."""
    replies: list[Message] = []
    for calls in turns:
        replies += [_step(mode, calls), assistant(REFUSAL_TEXT)] if calls else [assistant(REFUSAL_TEXT)]
    return replies


def _step(mode: CallMode, calls: Sequence[Call]) -> Message:
    if mode == "prompt":
        return assistant(f"[{', '.join(call_source_text(call) for call in calls)}]")
    return calls_as_message(calls, tool_name)
