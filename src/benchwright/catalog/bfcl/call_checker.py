"""Checks function calls by BFCL's rules (bfcl_eval, eval_checker/ast_eval/ast_checker.py).

A possible answer has the form `{name: {parameter: [allowed values]}}`. An empty string among the values means
that the parameter may be omitted. Types are compared exactly: neither True nor 1.0 is an integer. There is
one exception: an integer is accepted for a Python float.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchwright.catalog.bfcl.calls import Call, Mistake
from benchwright.catalog.bfcl.categories import Category, Language
from benchwright.catalog.bfcl.java_values import parse_java_value
from benchwright.catalog.bfcl.javascript_values import parse_javascript_value
from benchwright.catalog.bfcl.parameter_types import (
    COLLECTION_TYPES,
    JAVA_TYPES,
    JAVASCRIPT_TYPES,
    PYTHON_TYPES,
)
from benchwright.catalog.bfcl.value_checker import (
    OPTIONAL_ARGUMENT_MARK,
    check_dict,
    check_dicts,
    check_list,
    check_other_value,
    check_string,
)

ExpectedCall = dict[str, dict[str, list[Any]]]
"""One expected call: its name, and the allowed values of its parameters."""

_TYPES = {"python": PYTHON_TYPES, "java": JAVA_TYPES, "javascript": JAVASCRIPT_TYPES}
_READ: dict[str, Callable[[str, str, str | None], Any]] = {
    "java": parse_java_value,
    "javascript": parse_javascript_value,
}
_WRONG_SOURCE = {"java": "type_error:java", "javascript": "type_error:js"}


def check_calls(
    category: Category,
    functions: Sequence[dict[str, Any]],
    calls: Sequence[Call],
    answers: Sequence[ExpectedCall],
    spelled: Callable[[str], str],
) -> Mistake | None:
    """Return the reason why the calls differ from the expected calls. Return None if they are right.

    `functions`: documents (JSON descriptions) of the functions on offer. `answers`: the possible answers.
    `spelled`: converts a function's name to its form in the calls (with `_` for `.` in tool calls).
    """
    if category.check_kind == "parallel":
        return _wrong_set(category.language, functions, calls, answers, spelled)
    checker = "multiple_function_checker" if category.check_kind == "multiple" else "simple_function_checker"
    if len(calls) != len(answers):
        return Mistake(f"{checker}:wrong_count", _count(calls, answers))
    document = _document(functions, answers[0]) if category.check_kind == "multiple" else functions[0]
    return check_call(category.language, document, calls[0], answers[0], spelled)


def _wrong_set(
    language: Language,
    functions: Sequence[dict[str, Any]],
    calls: Sequence[Call],
    answers: Sequence[ExpectedCall],
    spelled: Callable[[str], str],
) -> Mistake | None:
    """Match each expected call, in order, with the first fitting call that is not matched yet.

    Return the reason if an expected call has no match, or if the numbers of calls differ. Return None if all
    calls match.
    """
    if len(calls) != len(answers):
        return Mistake("parallel_function_checker_no_order:wrong_count", _count(calls, answers))
    left = list(calls)
    for answer in answers:
        document = _document(functions, answer)
        said = []
        for position, call in enumerate(left):
            wrong = check_call(language, document, call, answer, spelled)
            if wrong is None:
                del left[position]
                break
            said.append(f"{wrong.kind}: {wrong.message}")
        else:
            name = next(iter(answer))
            return Mistake(
                "parallel_function_checker_no_order:cannot_find_match",
                f"No call matches the expected call of {name!r}. {' '.join(said)}",
            )
    return None


def _count(calls: Sequence[Call], answers: Sequence[ExpectedCall]) -> str:
    return f"Wrong number of functions: {len(calls)}, expected {len(answers)}."


def _document(functions: Sequence[dict[str, Any]], answer: ExpectedCall) -> dict[str, Any]:
    name = next(iter(answer))
    return next(document for document in functions if document["name"] == name)


def check_call(
    language: Language,
    document: dict[str, Any],
    call: Call,
    answer: ExpectedCall,
    spelled: Callable[[str], str],
) -> Mistake | None:
    """Return the reason why a call differs from the expected call. Return None if the call is right."""
    possible = next(iter(answer.values()))
    name = spelled(document["name"])
    if call.name != name:
        return Mistake("simple_function_checker:wrong_func_name", f"Expected {name!r}, got {call.name!r}.")
    parameters = document["parameters"]["properties"]
    for required in document["parameters"].get("required", ()):
        if required not in call.arguments:
            return Mistake("simple_function_checker:missing_required", f"Missing parameter {required!r}.")
    for name, value in call.arguments.items():
        if name not in parameters or name not in possible:
            return Mistake("simple_function_checker:unexpected_param", f"Unexpected parameter {name!r}.")
        wrong = _wrong_argument(language, parameters[name], name, value, possible[name])
        if wrong is not None:
            return wrong
    for name, values in possible.items():
        if name not in call.arguments and OPTIONAL_ARGUMENT_MARK not in values:
            return Mistake("simple_function_checker:missing_optional", f"Parameter {name!r} must be given.")
    return None


def _wrong_argument(
    language: Language, parameter: dict[str, Any], name: str, value: Any, possible: list[Any]
) -> Mistake | None:
    types = _TYPES[language]
    declared = parameter.get("type", "any")
    wanted = types.get(declared, str)
    element_name = None
    if declared in COLLECTION_TYPES[language]:
        element_name = parameter.get("items", {}).get("type")
    element = types.get(element_name, str) if element_name is not None else None
    if language == "python":
        value = _as_declared(declared, value)
    else:
        if type(value) is not str:
            return Mistake(_WRONG_SOURCE[language], f"Parameter {name!r} must be source text, got {value!r}.")
        try:
            value = _READ[language](value, declared, element_name)
        except (NotImplementedError, ValueError) as error:
            return Mistake(_WRONG_SOURCE[language], f"Parameter {name!r}: {error}.")
    wrong = check_value_type(name, value, possible, wanted, element)
    return wrong or _wrong_value(name, value, possible, wanted, element)


def _as_declared(declared: str, value: Any) -> Any:
    if declared == "tuple" and type(value) is tuple:
        return list(value)
    if declared == "float" and type(value) is int:
        try:
            return float(value)
        except OverflowError:
            return value
    return value


def check_value_type(
    name: str, value: Any, possible: Sequence[Any], wanted: type[Any], element: type[Any] | None = None
) -> Mistake | None:
    """Return the reason why a value has a wrong type. Return None if its type is right.

    A type is right if it is `wanted`, or the type of the first possible value (which may be the name of a
    variable). If `element` is given, the elements of a list are checked, too, one level deep: all must have
    the right type for one possible value. If that possible value is not a list, elements of any type are
    right.
    """
    variable = _variable_type(possible)
    if type(value) is wanted:
        if element is None or any(_elements_right(name, value, one, element) for one in possible):
            return None
        if wanted is variable:
            return Mistake(
                "type_error:nested", f"Parameter {name!r} holds elements of a wrong type: {value!r}."
            )
    elif type(value) is variable:
        return None
    said = f"Parameter {name!r} must be {wanted.__name__}, got {type(value).__name__}: {value!r}."
    return Mistake("type_error:simple", said)


def _elements_right(name: str, value: Any, possible: Any, element: type[Any]) -> bool:
    return type(possible) is not list or all(
        check_value_type(name, one, possible, element) is None for one in value
    )


def _variable_type(possible: Sequence[Any]) -> type[Any] | None:
    return next((type(one) for one in possible if one != OPTIONAL_ARGUMENT_MARK), None)


def _wrong_value(
    name: str, value: Any, possible: Sequence[Any], wanted: type[Any], element: type[Any] | None
) -> Mistake | None:
    variable = _variable_type(possible)
    if variable is not None and variable is not wanted:
        return check_other_value(name, value, possible)
    if wanted is dict:
        return check_dict(value, possible)
    if wanted is list and element is dict:
        return check_dicts(value, possible)
    if wanted is str:
        return check_string(name, value, possible)
    if wanted is list:
        return check_list(name, value, possible)
    return check_other_value(name, value, possible)
