"""The rules of IFBench about layout: lines, bullets, quotation marks, brackets, templates."""

from __future__ import annotations

import re
import string
from itertools import pairwise

from benchwright.catalog.ifbench.text_cleaning import PUNCTUATION, strip_punctuation, without_punctuation
from benchwright.catalog.ifeval.rules import Rules

LAYOUT_RULES = Rules()

_rule = LAYOUT_RULES.register_rule

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_DEEPEST_BRACKETS = 5
_DEEPEST_QUOTES = 3
_LETTERED_OPTIONS = re.compile(r"\W*[aA]\W*[bB]\W*[cC]\W*")
_TEMPLATE = ("My Answer:", "My Conclusion:", "Future Outlook:")


@_rule("format:parentheses")
def has_nested_parentheses(response: str) -> bool:
    """Check that brackets are nested at least five deep, and that the innermost one is closed by its own kind.

    Brackets of all kinds count. A closing bracket that does not match discards all open brackets and the
    depth reached so far.
    """
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
def has_nested_quotes(response: str) -> bool:
    """Check that straight quotation marks are nested at least three deep, and that three nested ones are closed again.

    Apostrophes count as quotation marks.
    """
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
def has_text_after_quotes(response: str) -> bool:
    """Check that every quotation is followed by text.

    Only two violations are detected: two quotation marks side by side, and a mark at the end of the text.
    """
    text = "".join(response.replace("'\"'", "").split())
    return '""' not in text and not text.strip(string.digits + PUNCTUATION.replace('"', "")).endswith('"')


@_rule("format:options")
def is_option(response: str, options: str) -> bool:
    """Check that the response is one of the options.

    Options with letters are compared exactly. Other options are compared ignoring case and punctuation at
    both ends.
    """
    separator = next((mark for mark in ("/", "or") if mark in options), ",")
    known = [option.strip() for option in options.split(separator)]
    if _LETTERED_OPTIONS.match(options):
        return response in known
    return strip_punctuation(response).lower() in [strip_punctuation(option).lower() for option in known]


@_rule("format:newline")
def has_word_per_line(response: str) -> bool:
    """Check that the number of lines that are not empty equals the number of words."""
    text = without_punctuation(response).strip()
    return sum(line != "" for line in text.split("\n")) == len(text.split())


@_rule("format:line_indent")
def has_growing_indent(response: str) -> bool:
    """Check that each line is indented by more spaces than the previous one."""
    lines = response.split("\n")
    for line in lines:  # as in the official loop, which skips the line after each one that it removes
        if not line.strip():
            lines.remove(line)
    indents = [len(line) - len(line.lstrip(" ")) for line in lines]
    return all(first < second for first, second in pairwise(indents))


@_rule("format:list")
def has_list_separator(response: str, sep: str) -> bool:
    """Check that the separator of list items occurs at least twice, anywhere in the response."""
    return response.count(sep) >= 2


@_rule("format:thesis")
def has_thesis(response: str) -> bool:
    """Check for a passage in HTML italics that is followed by more text."""
    start = next((place for tag in ("<i>", "<em>") if (place := response.find(tag)) >= 0), None)
    if start is None:
        return False
    text = response[start:]
    end = next((place for tag in ("</i>", "</em>") if (place := text.find(tag)) >= 0), None)
    return end is not None and bool(text[3:end].strip()) and bool(text[end + 4 :].strip())


@_rule("format:sub-bullets")
def has_sub_bullets(response: str) -> bool:
    """Check that each asterisk is followed by a hyphen before the next asterisk comes."""
    return all("-" in bullet for bullet in response.split("*")[1:])


@_rule("format:output_template")
def follows_output_template(response: str) -> bool:
    """Check that all three headings of the template occur, in any order."""
    return all(heading in response for heading in _TEMPLATE)


@_rule("format:no_whitespace")
def has_no_whitespace(response: str) -> bool:
    """Check that there is no white space."""
    return not any(character.isspace() for character in response)
