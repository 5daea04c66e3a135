"""LaTeX rewritten as Python would have it: what MathArena tries first on every expression (parser.py, ParsePrimitive).

The rules and their order are those of its code, and so is what they spoil.
"""

from __future__ import annotations

import re

Rule = tuple[re.Pattern[str], str]

ROUNDS = 5
"""How often each of the two passes is repeated at most."""

MOST_SIGNS = 20_000
"""Signs above which nothing is rewritten any more."""

_GROUP = r"\{([^{}]*)\}"
_TO_FIRST_BRACE = r"\{(.*?)\}"
_ROOT = r"(\2)**(1/(\1))"
_SIGNS = {"^": "**", r"\cdot": "*", r"\times": "*", r"\pi": " pi ", r"\e": " E ", r"\i": " I "}


def _command(name: str, *arguments: str) -> re.Pattern[str]:
    """A command with its arguments, whatever number of backslashes it has."""
    return re.compile(rf"(?<!\\)\\*{name}{''.join(arguments)}")


_DIGITS_OF_COMMANDS: tuple[Rule, ...] = (
    (re.compile(r"(?<=sqrt)\d+"), r"{\g<0>}"),
    (re.compile(r"(?<=frac)\d"), r"{\g<0>}"),
)
_COMMANDS: tuple[Rule, ...] = (
    (_command("[dt]?frac", _GROUP, _GROUP), r"(\1)/(\2)"),
    (_command("binom", _GROUP, _GROUP), r"binomial(\1, \2)"),
    (_command("sqrt", r"\[(.*?)\]", _TO_FIRST_BRACE), _ROOT),
    (_command("sqrt", r"\((\d+)\)", _GROUP), _ROOT),
    (_command("sqrt", _TO_FIRST_BRACE), r"(\1)**(1/2)"),
    *((re.compile(re.escape(latex)), python) for latex, python in _SIGNS.items()),
    (re.compile(r"\bi\b"), "I"),
)
_NUMBER_IN_BRACES: Rule = (re.compile(r"\{(\d+)\}"), r"(\1)")
_SHORT_NAME = "(?<![a-zA-Z])[a-zA-Z]{1,2}(?![a-zA-Z])"
_PRODUCTS: tuple[Rule, ...] = (
    (re.compile(rf"(\d|{_SHORT_NAME})\("), r"\1*("),
    (re.compile(rf"\)(\d|{_SHORT_NAME})"), r")*\1"),
    (re.compile(rf"(?<=\d)({_SHORT_NAME})"), r"*\1"),
    (re.compile(rf"({_SHORT_NAME})(?=\d)"), r"\1*"),
    (re.compile(_GROUP), r"[\1]"),
)
_FACTORIALS = {"!": "factorial", "!!": "factorial2"}
_TOKEN = re.compile(r"\s*(?:#.*|!=|!+|\d+\.?\d*|\.\d+|\w+|[^\s\w])")


def with_braces(text: str) -> str:
    """The text with braces around digits right behind `sqrt` and the first one behind `frac`."""
    return _substituted(text, _DIGITS_OF_COMMANDS)


def as_python(text: str) -> str:
    """LaTeX as an expression of Python, as far as the rules get; there is no promise that it is one."""
    text = _repeated(text, _COMMANDS)
    text = _repeated(text, (_NUMBER_IN_BRACES, *_COMMANDS))
    return _with_factorials(_substituted(text, _PRODUCTS).replace("\n", ""))


def _repeated(text: str, rules: tuple[Rule, ...]) -> str:
    for _ in range(ROUNDS):
        before, text = text, _substituted(text, rules)
        if text == before or len(text) > MOST_SIGNS:
            break
    return text


def _substituted(text: str, rules: tuple[Rule, ...]) -> str:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text


def _with_factorials(text: str) -> str:
    """The text with calls for `!`, of what stands before it: a name, a number or a group, with a name before that."""
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
    """Where the last operand begins."""
    depth = 0
    for place in range(len(tokens) - 1, -1, -1):
        token = tokens[place].strip()
        depth += (token == ")") - (token == "(")
        if depth == 0:
            named = token == "(" and place > 0 and tokens[place - 1].strip().isidentifier()
            return place - named
    return len(tokens)
