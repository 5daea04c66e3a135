"""The rules about how a response is laid out: lines, bullets, quotation marks, brackets, templates."""

from __future__ import annotations

import re
import string
from itertools import pairwise

from benchwright.catalog.ifbench.texts import MARKS, trimmed, without_marks
from benchwright.catalog.ifeval.rules import Rules

LAYOUT = Rules()

_rule = LAYOUT.rule

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_DEEPEST_BRACKETS = 5
_DEEPEST_QUOTES = 3
_LETTERED_OPTIONS = re.compile(r"\W*[aA]\W*[bB]\W*[cC]\W*")
_TEMPLATE = ("My Answer:", "My Conclusion:", "Future Outlook:")


@_rule("format:parentheses")
def parentheses(response: str) -> bool:
    """Brackets of any kind nest five deep, and one closes after that; a wrong one starts anew."""
    stack: list[str] = []
    deepest = 0
    for character in response:
        if character in _CLOSING:
            stack.append(_CLOSING[character])
            deepest = max(deepest, len(stack))
        elif character in ")]}":
            if not stack or stack.pop() != character:
                stack, deepest = [], 0
            elif deepest >= _DEEPEST_BRACKETS:
                return True
    return False


@_rule("format:quotes")
def quotes(response: str) -> bool:
    """Straight quotation marks, of which an apostrophe is one, nest three deep, and three of them close."""
    stack: list[str] = []
    deepest = 0
    for character in response:
        if stack and character == stack[-1]:
            stack.pop()
            if deepest - len(stack) >= _DEEPEST_QUOTES:
                return True
        elif character in "\"'":
            stack.append(character)
            deepest = max(deepest, len(stack))
    return False


@_rule("format:quote_unquote")
def quote_unquote(response: str) -> bool:
    """Something stands behind every quotation, as far as two marks in a row and one at the end can tell."""
    text = "".join(response.replace("'\"'", "").split())
    return '""' not in text and not text.strip(string.digits + MARKS.replace('"', "")).endswith('"')


@_rule("format:options")
def options(response: str, options: str) -> bool:
    """One of the options; lettered ones to the letter, others in any case and with any marks around them."""
    separator = next((mark for mark in ("/", "or") if mark in options), ",")
    known = [option.strip() for option in options.split(separator)]
    if _LETTERED_OPTIONS.match(options):
        return response in known
    return trimmed(response).lower() in [trimmed(option).lower() for option in known]


@_rule("format:newline")
def newline(response: str) -> bool:
    """As many lines that are not empty as words."""
    text = without_marks(response).strip()
    return sum(line != "" for line in text.split("\n")) == len(text.split())


@_rule("format:line_indent")
def line_indent(response: str) -> bool:
    """Each line is indented by more spaces than the one before it."""
    lines = response.split("\n")
    for line in lines:  # the official loop, which overlooks the line behind each one that it removes
        if not line.strip():
            lines.remove(line)
    indents = [len(line) - len(line.lstrip(" ")) for line in lines]
    return all(first < second for first, second in pairwise(indents))


@_rule("format:list")
def list_separator(response: str, sep: str) -> bool:
    """The separator occurs at least twice, anywhere."""
    return response.count(sep) >= 2


@_rule("format:thesis")
def thesis(response: str) -> bool:
    """A text in italics, as HTML writes them, and more behind it."""
    start = next((place for tag in ("<i>", "<em>") if (place := response.find(tag)) >= 0), None)
    if start is None:
        return False
    text = response[start:]
    end = next((place for tag in ("</i>", "</em>") if (place := text.find(tag)) >= 0), None)
    return end is not None and bool(text[3:end].strip()) and bool(text[end + 4 :].strip())


@_rule("format:sub-bullets")
def sub_bullets(response: str) -> bool:
    """A hyphen behind each asterisk, before the next one."""
    return all("-" in bullet for bullet in response.split("*")[1:])


@_rule("format:output_template")
def output_template(response: str) -> bool:
    """All three headings, anywhere."""
    return all(heading in response for heading in _TEMPLATE)


@_rule("format:no_whitespace")
def no_whitespace(response: str) -> bool:
    """No white space."""
    return not any(character.isspace() for character in response)
