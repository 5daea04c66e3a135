"""Rewriting of LaTeX as Python: MathArena's first attempt at every expression (parser.py, ParsePrimitive).

The rules and their order are those of MathArena's code. They turn some valid expressions into invalid ones.
"""

from __future__ import annotations

import re

RewritingRule = tuple[re.Pattern[str], str]

MAX_ROUNDS = 5
"""Maximum number of rounds of each of the two passes over a text. A round applies all rules of the pass once."""

MAX_CHARACTERS = 20_000
"""Limit on the length of the text in characters. Rewriting stops when the text has become longer."""

_GROUP = r"\{([^{}]*)\}"
_TO_FIRST_BRACE = r"\{(.*?)\}"
_ROOT = r"(\2)**(1/(\1))"
_SIGNS = {"^": "**", r"\cdot": "*", r"\times": "*", r"\pi": " pi ", r"\e": " E ", r"\i": " I "}


def _command(name: str, *arguments: str) -> re.Pattern[str]:
    """Return a regular expression for a LaTeX command with its arguments, after any number of backslashes."""
    return re.compile(rf"(?<!\\)\\*{name}{''.join(arguments)}")


_DIGITS_OF_COMMANDS: tuple[RewritingRule, ...] = (
    (re.compile(r"(?<=sqrt)\d+"), r"{\g<0>}"),
    (re.compile(r"(?<=frac)\d"), r"{\g<0>}"),
)
_COMMANDS: tuple[RewritingRule, ...] = (
    (_command("[dt]?frac", _GROUP, _GROUP), r"(\1)/(\2)"),
    (_command("binom", _GROUP, _GROUP), r"binomial(\1, \2)"),
    (_command("sqrt", r"\[(.*?)\]", _TO_FIRST_BRACE), _ROOT),
    (_command("sqrt", r"\((\d+)\)", _GROUP), _ROOT),
    (_command("sqrt", _TO_FIRST_BRACE), r"(\1)**(1/2)"),
    *((re.compile(re.escape(latex)), python) for latex, python in _SIGNS.items()),
    (re.compile(r"\bi\b"), "I"),
)
_NUMBER_IN_BRACES: RewritingRule = (re.compile(r"\{(\d+)\}"), r"(\1)")
_SHORT_NAME = "(?<![a-zA-Z])[a-zA-Z]{1,2}(?![a-zA-Z])"
_PRODUCTS: tuple[RewritingRule, ...] = (
    (re.compile(rf"(\d|{_SHORT_NAME})\("), r"\1*("),
    (re.compile(rf"\)(\d|{_SHORT_NAME})"), r")*\1"),
    (re.compile(rf"(?<=\d)({_SHORT_NAME})"), r"*\1"),
    (re.compile(rf"({_SHORT_NAME})(?=\d)"), r"\1*"),
    (re.compile(_GROUP), r"[\1]"),
)
_FACTORIALS = {"!": "factorial", "!!": "factorial2"}
_TOKEN = re.compile(r"\s*(?:#.*|!=|!+|\d+\.?\d*|\.\d+|\w+|[^\s\w])")


def add_braces(text: str) -> str:
    """Return the text with braces around the digits after `sqrt`, and around the first digit after `frac`."""
    return _substituted(text, _DIGITS_OF_COMMANDS)


def rewrite_as_python(text: str) -> str:
    """Return LaTeX rewritten as a Python expression by fixed rules. The result is not always valid Python."""
    text = _repeated(text, _COMMANDS)
    text = _repeated(text, (_NUMBER_IN_BRACES, *_COMMANDS))
    return _with_factorials(_substituted(text, _PRODUCTS).replace("\n", ""))


def _repeated(text: str, rules: tuple[RewritingRule, ...]) -> str:
    for _ in range(MAX_ROUNDS):
        before, text = text, _substituted(text, rules)
        if text == before or len(text) > MAX_CHARACTERS:
            break
    return text


def _substituted(text: str, rules: tuple[RewritingRule, ...]) -> str:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text


def _with_factorials(text: str) -> str:
    """Replace each `!` by a function call on its operand.

    The operand is a name, a number, or a group with the name before it.
    """
    if "!" not in text:
        return text
    tokens: list[str] = []
    for token in _TOKEN.findall(text):
        function = _FACTORIALS.get(token.strip())
        if function and tokens:
            begin = _operand(tokens)
            tokens[begin:] = [f" {function}", "(", *tokens[begin:], ")"]
        else:
            tokens.append(token)
    return "".join(tokens)


def _operand(tokens: list[str]) -> int:
    """Return the index of the token at which the last operand in `tokens` begins."""
    depth = 0
    for place in range(len(tokens) - 1, -1, -1):
        token = tokens[place].strip()
        depth += (token == ")") - (token == "(")
        if depth == 0:
            named = token == "(" and place > 0 and tokens[place - 1].strip().isidentifier()
            return place - named
    return len(tokens)
