"""The rules of IFEval about layout: lists, sections, punctuation marks, beginning and end."""

from __future__ import annotations

import json
import re

from benchwright.catalog.ifeval.rules import Rules, compile_expression

LAYOUT_RULES = Rules()

_rule = LAYOUT_RULES.register_rule

CONSTRAINED_RESPONSES = ("My answer is yes.", "My answer is no.", "My answer is maybe.")

RESPONSE_SEPARATOR = "******"

_DIVIDER = re.compile(r"\s?\*\*\*\s?")
_STAR_BULLET = re.compile(r"^[^\S\n]*+\*[^*].*$", re.MULTILINE)
_DASH_BULLET = re.compile(r"^[^\S\n]*+-.*$", re.MULTILINE)
_HIGHLIGHT = re.compile(r"\*([^\n*]*)\*")
_DOUBLE_HIGHLIGHT = re.compile(r"\*\*([^\n*]*)\*\*")
_POSTSCRIPTS = {"P.P.S": re.compile(r"p\.\s?p\.\s?s"), "P.S.": re.compile(r"p\.\s?s\.")}
_WORD_ENDS = re.compile(r"[.,?!'\"]")


@_rule("length_constraints:number_paragraphs")
def has_paragraph_count(response: str, num_paragraphs: int) -> bool:
    """Check for exactly `num_paragraphs` paragraphs separated by `***`.

    A blank first or last paragraph is not counted. If a paragraph between them is blank, the check fails.
    """
    filled = [bool(piece.strip()) for piece in _DIVIDER.split(response)]
    return all(filled[1:-1]) and sum(filled) == num_paragraphs


@_rule("length_constraints:nth_paragraph_first_word")
def has_paragraph_first_word(response: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    """Check for `num_paragraphs` paragraphs separated by empty lines, and for the first word of the nth paragraph.

    Case is ignored. Blank paragraphs do not count towards `num_paragraphs`, but they do count when the nth
    paragraph is looked up.
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
def has_placeholders(response: str, num_placeholders: int) -> bool:
    """Check for at least `num_placeholders` placeholders `[…]`, each within one line."""
    return sum(_bracketed(line) for line in response.split("\n")) >= num_placeholders


@_rule("detectable_content:postscript")
def has_postscript(response: str, postscript_marker: str) -> bool:
    """Check that the postscript's marker occurs, ignoring case.

    White space is allowed within P.S. and P.P.S.
    """
    marker = postscript_marker.strip()
    pattern = _POSTSCRIPTS.get(marker) or compile_expression(marker.lower())
    return pattern.search(response.lower()) is not None


@_rule("detectable_format:number_bullet_lists")
def has_bullet_count(response: str, num_bullets: int) -> bool:
    """Check for exactly `num_bullets` lines that begin with `-`, or with a single `*`."""
    stars = sum(1 for _ in _STAR_BULLET.finditer(response))
    return stars + sum(1 for _ in _DASH_BULLET.finditer(response)) == num_bullets


@_rule("detectable_format:constrained_response")
def has_allowed_answer(response: str) -> bool:
    """Check that one of the three allowed answers occurs word for word."""
    return any(answer in response for answer in CONSTRAINED_RESPONSES)


@_rule("detectable_format:number_highlighted_sections")
def has_highlighted_sections(response: str, num_highlights: int) -> bool:
    """Check for at least `num_highlights` highlighted passages, `*…*` or `**…**`. Blank passages do not count."""
    highlights = _HIGHLIGHT.findall(response) + _DOUBLE_HIGHLIGHT.findall(response)
    return sum(1 for inside in highlights if inside.strip()) >= num_highlights


@_rule("detectable_format:multiple_sections")
def has_section_count(response: str, section_spliter: str, num_sections: int) -> bool:
    """Check that the section's word is followed by a number at least `num_sections` times.

    The case of the word matters.
    """
    heading = re.compile(rf"{compile_expression(section_spliter.strip()).pattern}\s?\d++")
    return sum(1 for _ in heading.finditer(response)) >= num_sections


@_rule("detectable_format:json_format")
def is_json(response: str) -> bool:
    """Check that the response, without a Markdown fence, is JSON.

    A single number or string counts as JSON.
    """
    text = response.strip()
    for fence in ("```json", "```Json", "```JSON", "```"):
        text = text.removeprefix(fence)
    try:
        json.loads(text.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


@_rule("detectable_format:title")
def has_title(response: str) -> bool:
    """Check for a title in `<<…>>`, within one line. A blank title does not count."""
    return any(_titled(line) for line in response.split("\n"))


@_rule("combination:two_responses")
def has_two_responses(response: str) -> bool:
    """Check for exactly two different responses separated by `******`.

    A separator at the beginning or end of the whole response is ignored.
    """
    pieces = [piece.strip() for piece in response.split(RESPONSE_SEPARATOR)]
    if not all(pieces[1:-1]):
        return False
    filled = [piece for piece in pieces if piece]
    return len(filled) == 2 and filled[0] != filled[1]


@_rule("combination:repeat_prompt")
def repeats_prompt(response: str, prompt_to_repeat: str) -> bool:
    """Check that the response begins with the prompt, ignoring case."""
    return response.strip().lower().startswith(prompt_to_repeat.strip().lower())


@_rule("startend:end_checker")
def has_end_phrase(response: str, end_phrase: str) -> bool:
    """Check that the response ends with the phrase. Case and quotation marks after the phrase are ignored."""
    return response.strip().strip('"').lower().endswith(end_phrase.strip().lower())


@_rule("startend:quotation")
def is_quoted(response: str) -> bool:
    """Check that the response is enclosed in straight double quotation marks."""
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
