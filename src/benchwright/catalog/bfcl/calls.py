"""Records of function calls and of mistakes in answers, and the errors that parsers raise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchwright.endpoint.call_arguments import ArgumentsError, read_arguments
from benchwright.records import Record


class Call(Record, frozen=True):
    """One function call with named arguments."""

    name: str
    arguments: dict[str, Any]


class Mistake(Record, frozen=True):
    """The reason why an answer is wrong. `kind`: the official error type; `message`: a sentence."""

    kind: str
    message: str


class DecodingError(Exception):
    """Raised for an answer that is not a list of function calls. `kind`: the official error type."""

    kind = "ast_decoder:decoder_failed"


class NoCallError(DecodingError):
    """Raised for an answer in Java or JavaScript that contains no call."""

    kind = "ast_decoder:decoder_wrong_output_format"


def read_tool_calls(tool_calls: Iterable[dict[str, Any]]) -> list[Call]:
    """Return the calls in an assistant message's `tool_calls`.

    Raises:
        DecodingError: If the arguments of a call are not JSON.
        TypeError: If the arguments are JSON, but not an object.
    """
    calls = []
    for tool_call in tool_calls:
        function = tool_call["function"]
        try:
            arguments = read_arguments(function["arguments"], lenient=True)
        except ArgumentsError as error:
            raise DecodingError(f"the arguments of {function['name']} are not valid JSON: {error}") from None
        except TypeError:
            raise TypeError(f"the arguments of {function['name']} are not a JSON object") from None
        calls.append(Call(function["name"], arguments))
    return calls


def format_calls(calls: Iterable[Call]) -> str:
    """Return calls as one readable line: `f(a=1); g()`."""
    return "; ".join(
        f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"
        for call in calls
    )
