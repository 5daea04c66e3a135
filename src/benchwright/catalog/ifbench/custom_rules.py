"""The rules of IFBench that are used by a single prompt each: lists, tables and questions of a fixed form."""

from __future__ import annotations

import csv
import io
import re
from itertools import pairwise

from benchwright.catalog.ifbench.text_cleaning import strip_punctuation, to_ascii
from benchwright.catalog.ifbench.vocabulary import EUROPEAN_CAPITALS
from benchwright.catalog.ifeval.rules import Rules

CUSTOM_RULES = Rules()

_rule = CUSTOM_RULES.register_rule

_QUESTION = re.compile(r"\n*(?:Question \d+[\.|\):;]?\s*)")
_CHOICE = re.compile(r"[A-Ea-e][\.|\)]\s*\w+")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_NAPOLEON = range(1769, 1822)
_FIELDS = 5


@_rule("custom:multiples")
def has_multiples(response: str) -> bool:
    """Check that the numbers are the multiples of 7 from 14 to 49, in order."""
    return re.findall(r"\d+", response) == [str(number) for number in range(14, 50, 7)]


@_rule("custom:mcq_count_length")
def has_growing_questions(response: str) -> bool:
    """Check for four questions with five choices each, each question longer than the previous one."""
    if not response.startswith("Question"):
        return False
    questions = [text.strip() for text in _QUESTION.split(response) if text.strip()]
    read = [_read_question(text) for text in questions]
    lengths = [length for length, _ in read]
    return (
        len(read) == 4
        and all(choices == _FIELDS for _, choices in read)
        and all(first < second for first, second in pairwise(lengths))
    )


def _read_question(text: str) -> tuple[int, int]:
    """Return the length of a question in characters, and the number of choices that follow it."""
    lines = [line.strip() for line in text.split("\n")]
    choices = [bool(_CHOICE.match(line)) for line in lines]
    asked = lines[: choices.index(True)] if any(choices) else lines
    return len(" ".join(asked).strip()), sum(choices)


@_rule("custom:reverse_newline")
def has_reverse_sorted_lines(response: str) -> bool:
    """Check for at least 52 lines in reverse alphabetical order.

    Lines before the first line that contains Zimbabwe are ignored.
    """
    lines = [line for line in map(strip_punctuation, response.split("\n")) if line]
    start = next((number for number, line in enumerate(lines) if "Zimbabwe" in line), len(lines))
    countries = [to_ascii(line) for line in lines[start:]]
    return len(countries) >= 52 and countries == sorted(countries, reverse=True)


@_rule("custom:character_reverse")
def has_reversed_phrase(response: str) -> bool:
    """Check for "the bald eagle" spelt backwards."""
    return "elgae dlab" in response.lower()


@_rule("custom:european_capitals_sort")
def lists_european_capitals(response: str) -> bool:
    """Check for the 27 capitals in `EUROPEAN_CAPITALS`, from north to south, separated by commas."""
    return [name.strip() for name in to_ascii(response).split(",") if name.strip()] == list(EUROPEAN_CAPITALS)


@_rule("custom:csv_city")
def has_city_csv(response: str) -> bool:
    """Check for a CSV table with a header and seven rows of five fields."""
    table = _table(response)
    return (
        len(table) == 8
        and table[0] == ["ID", "Country", "City", "Year", "Count"]
        and all(len(row) == _FIELDS for row in table[1:])
    )


@_rule("custom:csv_special_character")
def has_special_character_csv(response: str) -> bool:
    """Check for a CSV table of a header and fourteen rows.

    One row must have a quoted field that contains a special character. Each row before it, and this row
    itself, must have five fields; later rows may have any number.
    """
    table = _table(response.replace('"', '"""'))
    if len(table) != 15 or not _header(response, r",[ \t]*", "ProductID Category Brand Price Stock"):
        return False
    for row in table[1:]:
        if len(row) != _FIELDS:
            return False
        if any(re.match(r'".*[^\d\w\s].*"', field) for field in row):
            return True
    return False


@_rule("custom:csv_quotes")
def has_quoted_csv(response: str) -> bool:
    """Check for a header and three rows of five fields, separated by tabs.

    All fields must be in quotation marks.
    """
    if not _header(response, r"\t *", "StudentID Subject Grade Semester Score"):
        return False
    table = _table(response.replace('"', '"""'), "\t")
    fields = [field.strip() for row in table for field in row]
    return (
        len(table) == 4
        and all(len(row) == _FIELDS for row in table)
        and all(field.startswith('"') and field.endswith('"') for field in fields)
    )


@_rule("custom:date_format_list")
def lists_formatted_dates(response: str) -> bool:
    """Check for dates within Napoleon's lifetime, separated by commas. Months and days may be 00."""
    return all(_is_date(text.strip()) for text in response.strip().split(","))


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    if not found:
        return False
    year, month, day = map(int, found.groups())
    return year in _NAPOLEON and month <= len(_DAYS) and (month == 0 or day <= _DAYS[month - 1])


def _header(response: str, separator: str, names: str) -> bool:
    """Return True if the first line consists of the fields `names`, each with or without quotation marks."""
    pattern = separator.join(f'(?:{name}|"{name}")' for name in names.split())
    return re.fullmatch(pattern, response.split("\n")[0].strip()) is not None


def _table(text: str, delimiter: str = ",") -> list[list[str]]:
    """Parse a CSV text into rows.

    Return no rows if the text cannot be read. The official program crashes on such a text.
    """
    try:
        return list(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error:
        return []
