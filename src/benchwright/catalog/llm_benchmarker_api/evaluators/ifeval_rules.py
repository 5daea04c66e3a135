"""The documented checks of IFEval's instructions, which are simpler than the official checks.

Arguments have the names of the dataset (`google/IFEval`). A null argument counts as missing. Relations are
"at least", "at most", "exactly", "less than" and "more than".
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

RuleArguments = Mapping[str, Any]
VerifyRule = Callable[[str, RuleArguments], bool]

MIN_ASCII_SHARE = 0.8
"""A response counts as English if more than this share of its characters is ASCII."""

RESPONSE_SEPARATOR = "******"

_RELATIONS: dict[str, Callable[[float, float], bool]] = {
    "at least": operator.ge,
    "at most": operator.le,
    "exactly": operator.eq,
    "less than": operator.lt,
    "more than": operator.gt,
}

_VERIFIERS: dict[str, VerifyRule] = {}


def verify_instruction(response: str, instruction_id: str, kwargs: RuleArguments | None) -> bool:
    """Return True if the response follows the instruction.

    Return false for an unknown instruction, and for missing or invalid arguments.
    """
    verifier = _VERIFIERS.get(instruction_id)
    if verifier is None:
        return False
    given = {name: value for name, value in (kwargs or {}).items() if value is not None}
    try:
        return verifier(response, given)
    except (LookupError, TypeError, ValueError):
        return False


def _register(instruction_id: str) -> Callable[[VerifyRule], VerifyRule]:
    def register(verifier: VerifyRule) -> VerifyRule:
        _VERIFIERS[instruction_id] = verifier
        return verifier

    return register


def _related(count: int, relation: str, number: float) -> bool:
    return _RELATIONS[relation](count, number)


def _at_least(count: int, number: float) -> bool:
    return count >= number


@_register("keywords:existence")
def _keywords(response: str, given: RuleArguments) -> bool:
    text = response.lower()
    return all(keyword.lower() in text for keyword in given["keywords"])


@_register("keywords:frequency")
def _keyword_frequency(response: str, given: RuleArguments) -> bool:
    count = response.lower().count(given["keyword"].lower())
    return _related(count, given.get("relation", "at least"), given["frequency"])


@_register("keywords:forbidden_words")
def _forbidden_words(response: str, given: RuleArguments) -> bool:
    return not any(
        re.search(rf"(?<!\w){re.escape(word)}(?!\w)", response, re.IGNORECASE)
        for word in given["forbidden_words"]
    )


@_register("keywords:letter_frequency")
def _letter_frequency(response: str, given: RuleArguments) -> bool:
    count = response.lower().count(given["letter"].lower())
    return _related(count, given.get("let_relation", "at least"), given["let_frequency"])


@_register("language:response_language")
def _response_language(response: str, given: RuleArguments) -> bool:
    if given["language"].lower() not in ("en", "english"):
        return True
    return bool(response) and sum(map(str.isascii, response)) / len(response) > MIN_ASCII_SHARE


@_register("length_constraints:number_words")
def _number_words(response: str, given: RuleArguments) -> bool:
    return _related(len(response.split()), given.get("relation", "at least"), given["num_words"])


@_register("length_constraints:number_sentences")
def _number_sentences(response: str, given: RuleArguments) -> bool:
    count = sum(1 for sentence in re.split(r"[.!?]", response) if sentence.strip())
    return _related(count, given.get("relation", "at least"), given["num_sentences"])


@_register("length_constraints:number_paragraphs")
def _number_paragraphs(response: str, given: RuleArguments) -> bool:
    return _related(len(_paragraphs(response)), given.get("relation", "exactly"), given["num_paragraphs"])


@_register("length_constraints:nth_paragraph_first_word")
def _nth_paragraph_first_word(response: str, given: RuleArguments) -> bool:
    number, paragraphs = int(given["nth_paragraph"]), _paragraphs(response)
    if not 1 <= number <= len(paragraphs):
        return False
    return _bare(paragraphs[number - 1].split()[0]) == _bare(given["first_word"])


def _paragraphs(response: str) -> list[str]:
    return [paragraph for paragraph in response.split("\n\n") if paragraph.strip()]


def _bare(word: str) -> str:
    """Return the word in lower case, without surrounding punctuation."""
    return re.sub(r"^\W+|\W+$", "", word).lower()


@_register("detectable_content:number_placeholders")
def _number_placeholders(response: str, given: RuleArguments) -> bool:
    return _at_least(len(re.findall(r"\[[^\[\]\n]*\]", response)), given["num_placeholders"])


@_register("detectable_content:postscript")
def _postscript(response: str, given: RuleArguments) -> bool:
    return given.get("postscript_marker", "P.S.").strip().lower() in response.lower()


@_register("detectable_format:number_bullet_lists")
def _number_bullet_lists(response: str, given: RuleArguments) -> bool:
    return _at_least(len(re.findall(r"(?m)^[ \t]*(?:[-*][ \t]|•)", response)), given["num_bullets"])


@_register("detectable_format:constrained_response")
def _constrained_response(response: str, given: RuleArguments) -> bool:
    return bool(response.strip())


@_register("detectable_format:number_highlighted_sections")
def _number_highlighted_sections(response: str, given: RuleArguments) -> bool:
    spans = re.findall(r"\*{1,2}([^\n*]+)\*{1,2}", response)
    return _at_least(sum(1 for span in spans if span.strip()), given["num_highlights"])


@_register("detectable_format:multiple_sections")
def _multiple_sections(response: str, given: RuleArguments) -> bool:
    return _at_least(len(_headers(response, given)), given["num_sections"])


@_register("detectable_format:number_words_in_section")
def _number_words_in_section(response: str, given: RuleArguments) -> bool:
    """Return True if the number of words in a section has the required relation. `section` counts from 1.

    Without the argument `section`, the words of all sections must have the relation. A response without
    headers is one section.
    """
    headers = _headers(response, given)
    ends = [header.start() for header in headers[1:]] + [len(response)]
    sections = [response[header.end() : end] for header, end in zip(headers, ends, strict=False)] or [
        response
    ]
    if "section" in given:
        number = int(given["section"])
        sections = [sections[number - 1]] if 1 <= number <= len(sections) else []
    relation = given.get("relation", "at least")
    return bool(sections) and all(
        _related(len(section.split()), relation, given["num_words"]) for section in sections
    )


def _headers(response: str, given: RuleArguments) -> list[re.Match[str]]:
    """Return the matches of section headers: lines with the word `section_spliter` and a number, such as `Section 1`.

    If the argument `section_spliter` is missing, return the Markdown headings.
    """
    word = given.get("section_spliter")
    if word is None:
        return list(re.finditer(r"(?m)^#{1,6}[ \t]+[^\n]*$", response))
    return list(re.finditer(rf"(?im)^[ \t#*]*{re.escape(word.strip())}[ \t]+\d+[^\n]*$", response))


@_register("detectable_format:json_format")
def _json_format(response: str, given: RuleArguments) -> bool:
    blocks = re.findall(r"```(?:json)?([^`]*)```", response, re.IGNORECASE)
    return any(map(_is_json, [response, *blocks]))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@_register("detectable_format:title")
def _title(response: str, given: RuleArguments) -> bool:
    return any(title.strip() for title in re.findall(r"<<([^\n<>]+)>>", response))


@_register("combination:two_responses")
def _two_responses(response: str, given: RuleArguments) -> bool:
    return sum(1 for part in response.split(RESPONSE_SEPARATOR) if part.strip()) == 2


@_register("combination:repeat_prompt")
def _repeat_prompt(response: str, given: RuleArguments) -> bool:
    return response.strip().lower().startswith(given["prompt_to_repeat"].strip().lower())


@_register("startend:end_checker")
def _end_checker(response: str, given: RuleArguments) -> bool:
    return response.strip().strip('"').lower().endswith(given["end_phrase"].strip().lower())


@_register("startend:quotation")
def _quotation(response: str, given: RuleArguments) -> bool:
    text = response.strip()
    return len(text) > 1 and text.startswith('"') and text.endswith('"')


@_register("change_case:english_capital")
def _english_capital(response: str, given: RuleArguments) -> bool:
    return response.isupper()


@_register("change_case:english_lowercase")
def _english_lowercase(response: str, given: RuleArguments) -> bool:
    return response.islower()


@_register("change_case:capital_word_frequency")
def _capital_word_frequency(response: str, given: RuleArguments) -> bool:
    """Return True if the number of words in capitals has the required relation.

    Words are separated by white space. This is an official instruction that llm-benchmarker's document leaves
    out.
    """
    count = sum(1 for word in response.split() if word.isupper())
    return _related(count, given.get("capital_relation", "at least"), given["capital_frequency"])


@_register("punctuation:no_comma")
def _no_comma(response: str, given: RuleArguments) -> bool:
    return "," not in response
