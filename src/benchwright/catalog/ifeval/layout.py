"""The rules about how a response is laid out: lists, sections, marks, beginning and end."""

from __future__ import annotations

import json
import re

from benchwright.catalog.ifeval.rules import Rules, expression

LAYOUT = Rules()

_rule = LAYOUT.rule

ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")

TWO_RESPONSES = "******"

_DIVIDER = re.compile(r"\s?\*\*\*\s?")
_STAR_BULLET = re.compile(r"^[^\S\n]*+\*[^*].*$", re.MULTILINE)
_DASH_BULLET = re.compile(r"^[^\S\n]*+-.*$", re.MULTILINE)
_HIGHLIGHT = re.compile(r"\*([^\n*]*)\*")
_DOUBLE_HIGHLIGHT = re.compile(r"\*\*([^\n*]*)\*\*")
_POSTSCRIPTS = {"P.P.S": re.compile(r"p\.\s?p\.\s?s"), "P.S.": re.compile(r"p\.\s?s\.")}
_WORD_ENDS = re.compile(r"[.,?!'\"]")


@_rule("length_constraints:number_paragraphs")
def number_paragraphs(response: str, num_paragraphs: int) -> bool:
    """Exactly that many paragraphs between `***`; a blank first or last one is not a paragraph, others must not be."""
    filled = [bool(piece.strip()) for piece in _DIVIDER.split(response)]
    return all(filled[1:-1]) and sum(filled) == num_paragraphs


@_rule("length_constraints:nth_paragraph_first_word")
def nth_paragraph_first_word(response: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    """Exactly that many paragraphs between empty lines, and one of them begins with a word, in any case.

    Blank pieces are not counted, yet they keep their place when the paragraph is looked for.
    """
    pieces = response.split("\n\n")
    filled = sum(bool(piece.strip()) for piece in pieces)
    if not 1 <= nth_paragraph <= filled or filled != num_paragraphs:
        return False
    opening = pieces[nth_paragraph - 1].split(maxsplit=1)
    if not opening:
        return False
    word = _WORD_ENDS.split(opening[0].lstrip("'").lstrip('"'), maxsplit=1)[0]
    return "".join(map(str.lower, word)) == first_word.lower()


@_rule("detectable_content:number_placeholders")
def number_placeholders(response: str, num_placeholders: int) -> bool:
    """At least that many `[…]`, each within one line."""
    return sum(_bracketed(line) for line in response.split("\n")) >= num_placeholders


@_rule("detectable_content:postscript")
def postscript(response: str, postscript_marker: str) -> bool:
    """The postscript's marker occurs anywhere, in any case; white space is allowed within P.S. and P.P.S."""
    marker = postscript_marker.strip()
    pattern = _POSTSCRIPTS.get(marker) or expression(marker.lower())
    return pattern.search(response.lower()) is not None


@_rule("detectable_format:number_bullet_lists")
def number_bullet_lists(response: str, num_bullets: int) -> bool:
    """Exactly that many lines that begin with `-`, or with `*` and no second one."""
    stars = sum(1 for _ in _STAR_BULLET.finditer(response))
    return stars + sum(1 for _ in _DASH_BULLET.finditer(response)) == num_bullets


@_rule("detectable_format:constrained_response")
def constrained_response(response: str) -> bool:
    """One of the three answers occurs, letter by letter."""
    return any(answer in response for answer in ANSWERS)


@_rule("detectable_format:number_highlighted_sections")
def number_highlighted_sections(response: str, num_highlights: int) -> bool:
    """At least that many `*…*` and `**…**` that are not blank."""
    highlights = _HIGHLIGHT.findall(response) + _DOUBLE_HIGHLIGHT.findall(response)
    return sum(1 for inside in highlights if inside.strip()) >= num_highlights


@_rule("detectable_format:multiple_sections")
def multiple_sections(response: str, section_spliter: str, num_sections: int) -> bool:
    """At least that many times the section's word and a number, in the case given."""
    heading = re.compile(rf"{expression(section_spliter.strip()).pattern}\s?\d++")
    return sum(1 for _ in heading.finditer(response)) >= num_sections


@_rule("detectable_format:json_format")
def json_format(response: str) -> bool:
    """The response, without a Markdown fence, is JSON; a lone number or string is."""
    text = response.strip()
    for fence in ("```json", "```Json", "```JSON", "```"):
        text = text.removeprefix(fence)
    try:
        json.loads(text.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


@_rule("detectable_format:title")
def title(response: str) -> bool:
    """There is `<<…>>` within one line, and it is not blank."""
    return any(_titled(line) for line in response.split("\n"))


@_rule("combination:two_responses")
def two_responses(response: str) -> bool:
    """Exactly two responses, not the same, with `******` between them; it may also open and close the whole."""
    pieces = [piece.strip() for piece in response.split(TWO_RESPONSES)]
    if not all(pieces[1:-1]):
        return False
    filled = [piece for piece in pieces if piece]
    return len(filled) == 2 and filled[0] != filled[1]


@_rule("combination:repeat_prompt")
def repeat_prompt(response: str, prompt_to_repeat: str) -> bool:
    """The response begins with the prompt, in any case."""
    return response.strip().lower().startswith(prompt_to_repeat.strip().lower())


@_rule("startend:end_checker")
def end_checker(response: str, end_phrase: str) -> bool:
    """The response ends with the phrase, in any case; quotation marks after it do not count."""
    return response.strip().strip('"').lower().endswith(end_phrase.strip().lower())


@_rule("startend:quotation")
def quotation(response: str) -> bool:
    """The response stands within straight double quotation marks."""
    text = response.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'


def _bracketed(line: str) -> int:
    found = 0
    start = line.find("[")
    while start >= 0:
        end = line.find("]", start)
        if end < 0:
            break
        found += 1
        start = line.find("[", end)
    return found


def _titled(line: str) -> bool:
    start = line.find("<<")
    end = line.rfind(">>")
    return 0 <= start < end - 2 and bool(line[start : end + 2].lstrip("<").rstrip(">").strip())
