r"""Answers of the model: a JSON object with its analysis of the screen, its plan, and the keys to type.

{"analysis": "…", "plan": "…", "commands": [{"keystrokes": "ls\n", "duration": 0.1}], "task_complete": false}
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from benchwright.records import Record

REQUIRED_FIELDS = ("analysis", "plan", "commands")
DEFAULT_DURATION = 1.0
"""Seconds to wait after keys if the model specifies no duration."""
MAX_DURATION = 60.0

MAX_BRACES = 200
"""Maximum number of braces at which the parser tries to read a JSON object.

Each attempt may take as long as reading the whole answer.
"""

_YES = ("true", "1", "yes")
_READER = json.JSONDecoder()


class KeystrokeCommand(Record, frozen=True):
    """Keys to type, and the seconds to wait before the next keys are typed or the screen is read."""

    keystrokes: str
    seconds: float = DEFAULT_DURATION


class ParsedAnswer(Record, frozen=True):
    """The actions that an answer requests.

    If `error` is set, no action is done, and the model is sent the error and the `warnings`.
    """

    commands: list[KeystrokeCommand] = []
    says_complete: bool = False
    error: str = ""
    warnings: list[str] = []


def read_answer(text: str) -> ParsedAnswer:
    """Parse an answer: its first JSON object that has all fields.

    If closing braces are missing at the end, they are added.
    """
    found = _object(text)
    if found is None and (missing := text.count("{") - text.count("}")) > 0:
        found = _object(text + "}" * missing)
        if found is not None:
            return _answer(
                found[0], [f"{missing} closing brace(s) were missing and have been added", *found[1]]
            )
    if found is None:
        return ParsedAnswer(error=_why_none(text))
    return _answer(*found)


def _object(text: str) -> tuple[dict[str, Any], list[str]] | None:
    """Return the first JSON object with all fields, and warnings about text before and after it.

    Return None if there is no such object.
    """
    for start, value, end in _objects(text):
        if all(name in value for name in REQUIRED_FIELDS):
            around = {"before": text[:start], "after": text[end:]}
            return value, [
                f"there is text {where} the JSON object" for where, what in around.items() if what.strip()
            ]
    return None


def _objects(text: str) -> Iterator[tuple[int, dict[str, Any], int]]:
    end = 0
    for _ in range(MAX_BRACES):
        start = text.find("{", end)
        if start < 0:
            return
        try:
            value, end = _READER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield start, value, end


def _why_none(text: str) -> str:
    """Explain why the text contains no JSON object with all fields."""
    for _, value, _ in _objects(text):
        missing = ", ".join(name for name in REQUIRED_FIELDS if name not in value)
        return f"the JSON object lacks required fields: {missing}"
    start = text.find("{")
    if start < 0:
        return "there is no JSON object in the answer"
    try:
        _READER.raw_decode(text, start)
    except ValueError as error:
        return f"the JSON is not valid: {error}"
    except RecursionError:
        pass
    return "the JSON is nested too deep"


def _answer(said: Mapping[str, Any], warnings: list[str]) -> ParsedAnswer:
    warnings = [*warnings, *_remarks(said)]
    complete = said.get("task_complete", False)
    complete = complete.lower() in _YES if isinstance(complete, str) else bool(complete)
    commands, error = _commands(said["commands"], warnings)
    if error and complete:
        return ParsedAnswer(says_complete=True, warnings=[*warnings, error])
    return ParsedAnswer(commands, complete, error, warnings)


def _remarks(said: Mapping[str, Any]) -> Iterator[str]:
    for name in ("analysis", "plan"):
        if not isinstance(said[name], str):
            yield f"`{name}` should be text"
    if not isinstance(said.get("task_complete", False), bool | str):
        yield "`task_complete` should be true or false"
    order = [name for name in said if name in REQUIRED_FIELDS]
    if order != list(REQUIRED_FIELDS):
        yield f"the fields should come in the order {', '.join(REQUIRED_FIELDS)}; they came as {', '.join(order)}"


def _commands(given: Any, warnings: list[str]) -> tuple[list[KeystrokeCommand], str]:
    """Return the keys to type, and an error message. The message is "" if there is no error."""
    if not isinstance(given, list):
        return [], "`commands` must be a list"
    found: list[KeystrokeCommand] = []
    for number, one in enumerate(given, 1):
        if not isinstance(one, dict):
            return [], f"command {number} must be an object"
        keystrokes = one.get("keystrokes")
        if not isinstance(keystrokes, str):
            return [], f"command {number} must have `keystrokes`, a text"
        if unknown := [name for name in one if name not in ("keystrokes", "duration")]:
            warnings.append(f"command {number} has unknown fields: {', '.join(unknown)}")
        if number < len(given) and keystrokes and not keystrokes.endswith("\n"):
            warnings.append(
                f"command {number} does not end with a newline, so the next one is typed on the same line"
            )
        found.append(KeystrokeCommand(keystrokes, _seconds(one, number, warnings)))
    return found, ""


def _seconds(command: Mapping[str, Any], number: int, warnings: list[str]) -> float:
    given = command.get("duration")
    if isinstance(given, int | float) and math.isfinite(given):
        return min(max(float(given), 0.0), MAX_DURATION)
    what = "has no usable `duration`" if "duration" in command else "has no `duration`"
    warnings.append(f"command {number} {what}; {DEFAULT_DURATION:g} s were waited")
    return DEFAULT_DURATION
