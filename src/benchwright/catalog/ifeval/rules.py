"""Registry of IFEval's 25 rules by the ids of their instructions, and validation of the arguments in a row.

Each rule is a function `(response, **arguments) -> bool` with the same result as the official code
(google-research/instruction_following_eval, instructions.py), oddities included. All rules take time linear
in the length of the response.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_type_hints

import msgspec

from benchwright.suggestions import did_you_mean

Rule = Callable[..., bool]

FollowsInstruction = Callable[[str, str, Mapping[str, Any]], bool]
"""A function that checks a response: (response, instruction, arguments) -> True if it follows the instruction."""

CountRelation = Literal["less than", "at least"]

RuleDecorator = Callable[[Rule], Rule]


class Rules:
    """Registry of rules, by the ids of instructions. A rule checks that a response follows an instruction."""

    def __init__(self, inherited: Mapping[str, Rule] | None = None) -> None:
        self._rules = dict(inherited or {})
        self._arguments: dict[str, type[msgspec.Struct]] = {}

    @property
    def by_id(self) -> Mapping[str, Rule]:
        """All rules, by the ids of their instructions."""
        return self._rules

    def register_rule(self, instruction: str) -> RuleDecorator:
        """Return a decorator that registers a function as the rule of an instruction."""

        def register(function: Rule) -> Rule:
            self._rules[instruction] = function
            return function

        return register

    def valid_arguments(self, instruction: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments that the instruction's rule takes, validated. `given`: the arguments in the row.

        Nulls, and arguments that the rule does not take, are dropped.

        Raises:
            ValueError: If the instruction is unknown, or an argument is missing or has the wrong type.
        """
        if instruction not in self._rules:
            hint = did_you_mean(instruction, self._rules)
            raise ValueError(f"there is no instruction {instruction!r}.{hint}")
        kind = self._arguments.get(instruction)
        if kind is None:
            kind = self._arguments[instruction] = _arguments_of(self._rules[instruction])
        try:
            fitting = msgspec.convert(
                {name: value for name, value in given.items() if value is not None}, kind
            )
        except msgspec.ValidationError as error:
            raise ValueError(f"arguments of {instruction}: {error}") from error
        return msgspec.structs.asdict(fitting)

    def follows(self, response: str, instruction: str, arguments: Mapping[str, Any]) -> bool:
        """Return True if a response follows an instruction.

        Raises:
            KeyError: If the instruction is unknown.
        """
        return self._rules[instruction](response, **arguments)


def _arguments_of(rule: Rule) -> type[msgspec.Struct]:
    """Return a struct type whose fields are the arguments that a rule takes."""
    hints = get_type_hints(rule)
    names = list(inspect.signature(rule).parameters)[1:]
    return msgspec.defstruct("Arguments", [(name, hints[name]) for name in names])


def compare(count: int, relation: CountRelation, threshold: int) -> bool:
    """Return True if a count has the required relation ("less than" or "at least") to a threshold."""
    return count < threshold if relation == "less than" else count >= threshold


def compile_expression(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a regular expression from a row. Text that is no valid expression is matched literally.

    The official code takes keywords, markers and section words as regular expressions, unescaped, and crashes
    if one is invalid.
    """
    try:
        return re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError):
        return re.compile(re.escape(pattern), flags)
