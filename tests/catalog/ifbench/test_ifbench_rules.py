"""IFBench's 58 rules, each by examples: what the official code passes and fails, oddities included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchwright.catalog.ifbench.answer_building import ANSWER_BUILDERS
from benchwright.catalog.ifbench.language_tools import RULES_FOR_ARGUMENT_CHECKS
from benchwright.catalog.ifbench.token_rules import START_VERB_INSTRUCTION

KEYWORDS = {"keyword1": "a1", "keyword2": "b2", "keyword3": "c3", "keyword4": "d4", "keyword5": "e5"}
KEPT = "a1 " + "B2 " * 2 + "c3 " * 3 + "d4 " * 5 + "xe5x " * 7
REFERENCE = {"reference_text": "abcdefgh", "percentage": 50.0}
SPAN = {"prompt_to_repeat": "Say it now", "n_start": 4, "n_end": 5}
PLACE = {"keyword": "Sun", "n": 2, "m": 3}
DATES = "1796-04-12, 1805-12-02"
QUESTIONS = str(ANSWER_BUILDERS["custom:mcq_count_length"]()[0])
COUNTRIES = "Zimbabwe\n" + "Zambia\n" * 51
LETTERS = " ".join(f"{chr(number)}ello goes." for number in range(65, 91))
CAPITALS = str(ANSWER_BUILDERS["custom:european_capitals_sort"]()[0])
CITIES = "ID,Country,City,Year,Count" + "\n1,Peru,Lima,2020,3" * 7
PRODUCTS = "ProductID,Category,Brand,Price,Stock"
GRADES = "StudentID\tSubject\tGrade\tSemester\tScore"
QUOTED = GRADES.replace("\t", '"\t"').join('""') + '\n"1"\t"Art"\t"A"\t"2"\t"9"' * 3

EXAMPLES: list[tuple[str, dict[str, Any], list[str], list[str]]] = [
    ("count:word_count_range", {"min_words": 2.0, "max_words": 3.0}, ["don't", "a b c"], ["one", "a b c d"]),
    ("count:unique_word_count", {"N": 2.0}, ["So it, so", "so -"], ["So so, SO."]),
    # "and", "And" and "and," are three different conjunctions
    ("count:conjunctions", {"small_n": 3.0}, ["and And and,", "and or but"], ["and or", "andy or but"]),
    ("count:person_names", {"N": 2.0}, ["Emma's and Leo"], ["Emma Emma", "emma leo", "Emmas Leo"]),
    # without marks, one number each
    ("count:numbers", {"N": 2.0}, ["1-2-3 and 10:30", "1,000 a1"], ["1", "1 2 3"]),
    ("count:punctuation", {}, ["?! . , ! ? ; :", "‽.,! ?;:"], ["?!.,;:", ".,!?;:"]),
    ("count:words_japanese", {"N": 2.0}, ["a 日", "a 12", "a -", "a"], ["日 a"]),
    ("count:keywords_multiple", KEYWORDS, [KEPT], [KEPT + "a1", "a1"]),
    ("count:pronouns", {"N": 2.0}, ["This is his.", "he/she", "all of it"], ["I'll go", "history"]),
    ("ratio:stop_words", {"percentage": 50.0}, ["the house"], ["the the house", "..."]),
    # trigrams of characters
    ("ratio:overlap", REFERENCE, ["abcd01", "abcdef0123"], ["abcdefgh", "01234", "ab"]),
    ("ratio:sentence_type", {}, ["We go. We sit. Do we?", "so"], ["We go. Do we?"]),
    ("ratio:sentence_balance", {}, ["We go. Do we? We do!", "so"], ["We go. Do we?"]),
    # the words need not differ
    ("ratio:sentence_words", {}, ["We go. We go. We go."], ["We go. We go.", "We go. We go. We sit."]),
    ("words:alphabet", {}, ["Yes zoo and", "b, c-d"], ["a b b", "1 2", "!"]),
    ("words:vowel", {}, ["A tall hill is", "rhythm"], ["aeio", "a\nb"]),
    ("words:consonants", {}, ["strong hymns"], ["strong as", "strong - hands"]),
    ("words:palindrome", {}, ["Level, " * 10], ["level " * 9, "noon " * 10]),
    ("words:prime_lengths", {}, ["we are", "a-b"], ["a", "four"]),
    ("words:repeats", {"small_n": 1.0}, ["so it is"], ["So, so"]),
    ("words:no_consecutive", {}, ["a b a"], ["a 'apple"]),
    ("words:paragraph_last_first", {}, ["So it is so.\n\nyes"], ["so it is", "so cats, so it"]),
    ("words:odd_even_syllables", {}, ["cat city cat", "cat"], ["cat dog"]),
    ("words:last_first", {}, ["They go. Go on.", "so"], ["They go. We go.", "They go. ..."]),
    ("words:words_position", {"keyword": "sun"}, ["The Sun or sun here.", "a sun b"], ["sun the sun", "sun"]),
    ("words:keywords_specific_position", PLACE, ["It is. It, the sun."], ["It is. The sun.", "It the sun."]),
    ("sentence:keyword", {"word": "sun", "N": 2.0}, ["It is. The SUN."], ["The sun. It is.", "It is. Sunny."]),
    ("sentence:increment", {"small_n": 2.0}, ["Go. Go on now.", "so"], ["Go. Go on.", "Go on. Go."]),
    ("sentence:alliteration_increment", {}, ["We go. Big 'boys go.", "so"], ["We go. They sit.", "Big boys. We sit."]),
    ("format:parentheses", {}, ["([{(( )", "((((()"], ["(((())))", "((((((", "((((( ]"]),
    # an apostrophe is a quotation mark
    ("format:quotes", {}, ["\"a 'b \"c\" d' e\"", "'\"'\"''\"'"], ["\"a 'b' c\"", "“a ‘b “c” d’ e”"]),
    ("format:quote_unquote", {}, ['"So" it is', '"so" 1, a', "“so”"], ['It is "so."', '"so" "so"']),
    ("format:options", {"options": "yes/no/maybe"}, ["Yes.", " no "], ["yes no", "yess", "yes\n"]),
    ("format:options", {"options": "a), b), c), d)"}, ["a)"], ["A)", "a", "a)."]),
    ("format:newline", {}, ["one\n\ntwo!"], ["one two"]),
    # the last mark but one may be an emoji as well; a flag is two characters
    ("format:emoji", {}, ["We go 😀.", "We go. 😀 We sit 😀.", "We go 😀s"], ["We go.", "We go 🇩🇪"]),
    ("format:line_indent", {}, ["a\n b\n\n  c", "a"], ["a\nb", "a\n\tb", "a\n\n\n b"]),
    ("format:list", {"sep": "!?!?"}, ["a!?!?b!?!?"], ["a !?!? b", "!?!?!?"]),
    ("format:thesis", {}, ["<i>a</i> b", "<em></em> b"], ["<i>a</i>", "<i> </i> b", "a", "<i>a"]),
    ("format:sub-bullets", {}, ["* a\n - b", "no bullet"], ["* a\n* b\n - c", "**bold**"]),
    ("format:no_bullets_bullets", {},
     ["We go. We sit.\n* a\n* b", "We go. We sit.\n\n* a\n* b"],
     ["We go.\n* a\n* b", "We go. We sit.\n* a", "We go.\n\nWe sit.\n* a\n* b", "We go. We sit.\n* a\n* b\n"]),
    ("format:title_case", {}, ["It Is THE iPhone 5s"], ["It is", "Don't Go", "A b"]),
    ("format:output_template", {}, ["Future Outlook: My Conclusion: My Answer:"], ["My answer: My Conclusion:"]),
    ("format:no_whitespace", {}, ["so"], ["s o", "so\n", "s\u00a0o"]),
    # the same words, not the same text
    ("repeat:repeat_change", {"prompt_to_repeat": "Say it"}, ["Tell  it", "Say it "], ["Say it", "Say that"]),
    ("repeat:repeat_simple", {}, ["only output this sentence here, ignore all other requests.\n"], ["so"]),
    ("repeat:repeat_span", SPAN, ["IT", " it"], ["it now", "say it"]),
    ("custom:multiples", {}, ["14,21,28,35,42,49", "14 or 21, 28 35 42 49."], ["14,21,28,35,42", "7,14"]),
    ("custom:mcq_count_length", {}, [QUESTIONS], [f"So: {QUESTIONS}", QUESTIONS + "\na) so", "Question 1"]),
    ("custom:reverse_newline", {}, [f"Here:\n{COUNTRIES}"], [COUNTRIES + "Albania\nZ", "Zimbabwe\n" * 51]),
    ("custom:word_reverse", {}, ["Flies eagle bald the."], ["The bald eagle flies."]),
    ("custom:character_reverse", {}, ["ELGAE DLAB"], ["bald eagle"]),
    ("custom:sentence_alphabet", {}, [LETTERS], [LETTERS + " Aello.", LETTERS[12:]]),
    ("custom:european_capitals_sort", {}, [CAPITALS, CAPITALS.replace("Chisinau", "Chișinău")],
     [CAPITALS + ".", CAPITALS.replace("Riga, ", "")]),
    ("custom:csv_city", {}, [CITIES, CITIES + "\n"], [f"```\n{CITIES}\n```", CITIES + "\ra"]),
    ("custom:csv_special_character", {}, [PRODUCTS + '\n1,"A&B",C,2,3' * 14],
     [PRODUCTS + '\n1,"AB",C,2,3' * 14, PRODUCTS + '\n1,"A&B",C,2,3' * 13, PRODUCTS]),
    # an empty field ends the official program
    ("custom:csv_quotes", {}, [QUOTED], [QUOTED.replace('"Art"', "Art"), QUOTED.replace('"Art"', ""), GRADES]),
    ("custom:date_format_list", {}, [DATES, "1800-00-99", "1800-02-29"],
     ["1800-02-30", "1768-01-01", "1800-13-01", "1800-04-31", f"{DATES},", "12 May 1800"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("instruction", "arguments", "follow", "miss"), EXAMPLES, ids=lambda value: str(value)[:30]
)
def test_a_rule_decides_as_the_official_code_does(
    instruction: str, arguments: dict[str, Any], follow: list[str], miss: list[str]
) -> None:
    said = {
        text: RULES_FOR_ARGUMENT_CHECKS.follows(text, instruction, arguments) for text in (*follow, *miss)
    }
    assert said == {text: text in follow for text in said}


def test_every_rule_has_examples_and_an_answer_that_follows_it() -> None:
    with_examples = {instruction for instruction, *_ in EXAMPLES}
    assert (
        with_examples | {START_VERB_INSTRUCTION}
        == set(RULES_FOR_ARGUMENT_CHECKS.by_id)
        == set(ANSWER_BUILDERS)
    )
    assert len(RULES_FOR_ARGUMENT_CHECKS.by_id) == 58


def test_a_verb_is_what_the_taggers_model_says(tagger: Path) -> None:
    from benchwright.catalog.ifbench.token_rules import tagging_rules

    rules = tagging_rules(lambda text: [text], tagger)
    assert rules.follows("Rain falls", START_VERB_INSTRUCTION, {})
    assert not rules.follows("The rain falls", START_VERB_INSTRUCTION, {})
    assert not rules.follows(" ", START_VERB_INSTRUCTION, {})
