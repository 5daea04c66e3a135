"""The rows of BFCL, and their samples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import xxhash

from benchwright.catalog.asking import join_turns
from benchwright.catalog.bfcl.categories import MEMORY_CLASSES, VECTOR_MEMORY_CATEGORY, Category, category_of
from benchwright.data.datasets import Source
from benchwright.data.errors import DatasetNotFound, DatasetValidationError
from benchwright.engine.answers import content_text
from benchwright.records import DECODE_ERRORS, Message, Record, Sample

CLASS_MODULES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
    "MemoryAPI_kv": "memory_kv",
    "MemoryAPI_vector": VECTOR_MEMORY_CATEGORY,
    "MemoryAPI_rec_sum": "memory_rec_sum",
}
"""Mapping from a Python class on which tasks are executed to the name of its module.

The file with the documents (JSON descriptions) of the class's functions has the same name.
"""


class Parameters(Record, frozen=True):
    """The part of a function's parameters that is validated here."""

    properties: dict[str, dict[str, Any]]
    required: list[str] = []


class Function(Record, frozen=True):
    """The part of a function's document (JSON description) that is validated here.

    The document is passed to the model unchanged.
    """

    name: str
    description: str
    parameters: Parameters


class BfclRow(Record, frozen=True):
    """One task. `question`: the messages of each turn.

    A turn without messages offers functions that were withheld in earlier turns.
    """

    id: str
    question: list[list[Message]]
    function: list[dict[str, Any]] = []
    initial_config: dict[str, Any] = {}
    involved_classes: list[str] = []
    missed_function: dict[str, list[str]] = {}


class AnswerRow(Record, frozen=True):
    """The answer to a task: possible calls. For a multi-turn task, the source text of the calls of each turn."""

    id: str
    ground_truth: list[dict[str, dict[str, list[Any]]] | list[str]]


class ClassSources(msgspec.Struct):
    """Sources of the Python classes on which multi-turn tasks are executed. They are part of the data.

    `files`: sources by module name, filled when the samples are read. `digest`: a digest of all files except
    memory_vector's file, so that samples of other categories do not depend on that file. Samples of
    memory_vector contain a separate digest of that file.
    """

    files: dict[str, bytes] = {}
    digest: str = ""

    def load(self, source: Source) -> None:
        """Read the classes of a source."""
        self.files = {path.stem: path.read_bytes() for path in source.files("classes")}
        told = sorted(self.files.keys() - {VECTOR_MEMORY_CATEGORY})
        self.digest = xxhash.xxh3_128_hexdigest(b"".join(self.files[name] for name in told))


def samples(source: Source, wanted: frozenset[str], executables: ClassSources) -> Iterator[Sample]:
    """Yield one sample per task of the wanted categories. If none is wanted, take all categories in the data.

    Multi-turn tasks are left out if the data lack the classes to execute, unless their category is wanted.

    Raises:
        DatasetNotFound: If a wanted category, or data that it needs, is missing.
        DatasetError: If a row is invalid.
    """
    answers = _answers(source)
    executable = {"functions", "classes"} <= set(source.splits)
    documents = read_function_documents(source) if executable else {}
    if executable:
        executables.load(source)
    found = set()
    for row in source.read(BfclRow):
        category = category_of(row.id)
        if category is None or category.check_kind == "memory" or (wanted and category.name not in wanted):
            continue
        found.add(category.name)
        answer = answers.get(row.id)
        if category.check_kind == "multi_turn":
            if executable:
                yield _multi_turn(row, category, answer, documents, executables.digest)
            elif wanted:
                raise DatasetNotFound(
                    f"{source.root} holds no multi_turn_func_doc and func_source_code directories, which the "
                    "multi-turn categories need: run benchwright fetch bfcl"
                )
        else:
            yield _single_turn(row, category, answer)
    if missing := wanted - found - MEMORY_CLASSES.keys():
        raise DatasetNotFound(
            f"{source.root} holds no rows of the BFCL categories {', '.join(sorted(missing))}"
        )


def _answers(source: Source) -> dict[str, list[Any]]:
    if "answers" not in source.splits:
        return {}
    return {row.id: row.ground_truth for row in source.read(AnswerRow, "answers")}


def read_function_documents(source: Source) -> dict[str, list[dict[str, Any]]]:
    """Return the documents (JSON descriptions) of each class's functions, keyed by the name of the class's module."""
    documents: dict[str, list[dict[str, Any]]] = {}
    for path in source.files("functions"):
        lines = filter(None, map(str.strip, path.read_text(encoding="utf-8").splitlines()))
        try:
            documents[path.stem] = _checked(str(path), [msgspec.json.decode(line) for line in lines])
        except DECODE_ERRORS as error:
            raise DatasetValidationError(f"{path}: {error}") from error
    return documents


def _checked(where: str, functions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    try:
        msgspec.convert(functions, list[Function])
    except msgspec.ValidationError as error:
        raise DatasetValidationError(f"{where}: function: {error}") from error
    return functions


def _single_turn(row: BfclRow, category: Category, answer: list[Any] | None) -> Sample:
    functions = _checked(row.id, row.function)
    if "relevance" not in category.check_kind:
        _check_answer(row.id, answer, {function["name"] for function in functions})
    if not row.question:
        raise DatasetValidationError(f"{row.id}: question: it has no turn")
    content = {
        "category": category.name,
        "question": row.question[:1],
        "functions": functions,
        "answer": answer,
    }
    return _sample(row, category, content)


def _check_answer(identifier: str, answer: list[Any] | None, names: set[str]) -> None:
    if not answer:
        raise DatasetValidationError(f"{identifier}: it has no possible answer")
    for call in answer:
        if not isinstance(call, dict) or len(call) != 1 or not set(call) <= names:
            raise DatasetValidationError(f"{identifier}: ground_truth: {call!r} calls no function on offer")


def _multi_turn(
    row: BfclRow,
    category: Category,
    answer: list[Any] | None,
    documents: Mapping[str, list[dict[str, Any]]],
    digest: str,
) -> Sample:
    if not answer or len(answer) != len(row.question) or not all(isinstance(turn, list) for turn in answer):
        raise DatasetValidationError(f"{row.id}: ground_truth: it needs one list of calls per turn")
    functions = []
    for name in row.involved_classes:
        if CLASS_MODULES.get(name) not in documents:
            raise DatasetValidationError(f"{row.id}: involved_classes: {name!r} is not a known class")
        functions += documents[CLASS_MODULES[name]]
    missed = {turn: _taken_out(row.id, functions, names) for turn, names in row.missed_function.items()}
    content = {
        "category": category.name,
        "question": row.question,
        "functions": functions,
        "missed": missed,
        "answer": answer,
        "initial_config": row.initial_config,
        "classes": row.involved_classes,
        "executables": digest,
    }
    return _sample(row, category, content)


def _taken_out(identifier: str, functions: list[dict[str, Any]], names: list[str]) -> list[dict[str, Any]]:
    """Remove the named functions from the functions on offer, because they are withheld at first.

    Return the documents of these functions.
    """
    taken = []
    for name in names:
        place = next((number for number, one in enumerate(functions) if one["name"] == name), None)
        if place is None:
            raise DatasetValidationError(f"{identifier}: missed_function: there is no function {name!r}")
        taken.append(functions.pop(place))
    return taken


def _sample(row: BfclRow, category: Category, content: dict[str, Any]) -> Sample:
    return Sample(
        row.id,
        content,
        labels={"category": category.name, "group": category.group},
        input=join_turns([_asked(turn) for turn in content["question"]]),
        target=_target(category, content["answer"]),
    )


def _asked(turn: list[Message]) -> str:
    """Return the messages of a turn as text. If the turn only adds withheld functions, return a placeholder."""
    return "\n".join(content_text(one.get("content")) for one in turn) or "(further functions)"


def _target(category: Category, answer: list[Any] | None) -> str:
    """Return the right calls as text for people.

    Each argument has all its allowed values. Multi-turn calls are source text, turn by turn.
    """
    if "relevance" in category.check_kind:
        return "no call" if category.check_kind == "irrelevance" else "any call"
    if category.check_kind == "multi_turn":
        return join_turns(["\n".join(calls) or "no call" for calls in answer or ()])
    return "\n".join(
        f"{name}({', '.join(f'{key}={_choices(values)}' for key, values in arguments.items())})"
        for call in answer or ()
        for name, arguments in call.items()
    )


def _choices(values: list[Any]) -> str:
    return " or ".join(
        "nothing" if value == "" else json.dumps(value, ensure_ascii=False) for value in values
    )
