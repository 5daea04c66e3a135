"""Construction of answers that follow a row's instructions.

These answers serve as gold answers in checks of the grader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations

from benchwright.catalog.ifbench.counting_rules import trigrams
from benchwright.catalog.ifbench.vocabulary import EUROPEAN_CAPITALS, PERSON_NAMES
from benchwright.catalog.ifeval.grading import Instruction
from benchwright.catalog.ifeval.rules import FollowsInstruction

_SPARE = "brown"
"""A filler word that breaks few rules: no stop word, of prime length, with two adjacent consonants."""

_FOREIGN = 0x4E00
"""First of 20,000 consecutive code points of characters that occur in no reference text."""


def build_answer(follows: FollowsInstruction, instructions: Sequence[Instruction]) -> tuple[str, bool]:
    """Build an answer. Return the answer, and True if it follows all the instructions.

    If no candidate follows all instructions, return the candidate that follows most.
    """
    best, most = "", -1
    for answer in _candidates(instructions):
        followed = sum(follows(answer, one["id"], one["arguments"]) for one in instructions)
        if followed == len(instructions):
            return answer, True
        if followed > most:
            best, most = answer, followed
    return best, False


def _candidates(instructions: Sequence[Instruction]) -> Iterator[str]:
    """Yield answers built for each single instruction, then combinations of such answers."""
    single = [ANSWER_BUILDERS[one["id"]](**one["arguments"]) for one in instructions]
    yield from (answer for answers in single for answer in answers)
    for parts in permutations(single):
        for variant in range(max(map(len, parts))):
            chosen = [answers[variant % len(answers)] for answers in parts]
            yield from (_filled(separator.join(chosen), instructions) for separator in (" ", "\n"))


def _filled(text: str, instructions: Sequence[Instruction]) -> str:
    """Extend the text to the required number of words, and to the required overlap with a reference text.

    Nothing is added if no instruction requires a number of words or an overlap.
    """
    for one in instructions:
        if one["id"] == "count:word_count_range":
            text = f"{text} {_SPARE}" + f" {_SPARE}" * (
                int(one["arguments"]["min_words"]) - len(text.split())
            )
        if one["id"] == "ratio:overlap":
            text = _diluted(text, **one["arguments"])
    return text


def _diluted(text: str, reference_text: str, percentage: float) -> str:
    """Append characters that occur in no reference text.

    The text is extended until only `percentage` of its trigrams are shared with the reference.
    """
    own = trigrams(text)
    shared = len(own & trigrams(reference_text))
    wanted = round(shared * 100 / max(percentage, 1)) - len(own)
    return text + "".join(chr(_FOREIGN + number) for number in range(wanted))


def _overlapping(reference_text: str, percentage: float) -> list[str]:
    start = reference_text[:400]
    joined = [
        word for word in start.split() if any(pair in word for pair in ("th", "st", "nd", "ng", "ll", "rs"))
    ]
    return [_diluted(text, reference_text, percentage) for text in (start, " ".join(joined))]


def _keyword(word: str, N: float) -> list[str]:
    before = int(N) - 1
    return ["We walk. " * before + f"The {word} is here.", "So 😀. " * before + f"The {word} 😀."]


def _questions() -> str:
    choices = "\n".join(f"{letter}) {_SPARE}" for letter in "ABCDE")
    return "\n".join(f"Question {number}: {'why ' * number}?\n{choices}" for number in range(1, 5))


def _rows(*rows: str, times: int) -> str:
    header, row = rows
    return "\n".join([header, *[row] * times])


ANSWER_BUILDERS: Mapping[str, Callable[..., list[str]]] = {
    "count:word_count_range": lambda min_words, max_words: [" ".join([_SPARE] * int(min_words))],
    "count:unique_word_count": lambda N: [" ".join(f"word{number}" for number in range(int(N)))],
    "count:conjunctions": lambda small_n: ["and but for nor or so yet"],
    "count:person_names": lambda N: [" ".join(PERSON_NAMES[: int(N)])],
    "count:numbers": lambda N: [" ".join(str(number) for number in range(int(N)))],
    "count:punctuation": lambda: ["So?! One, two; three: four! Five? Six."],
    "count:words_japanese": lambda N: ["日本 東京"],
    "count:pronouns": lambda N: ["it " * int(N)],
    "count:keywords_multiple": lambda **words: [
        " ".join(" ".join([words[f"keyword{at}"]] * times) for at, times in enumerate((1, 2, 3, 5, 7), 1))
    ],
    "ratio:stop_words": lambda percentage: ["stones rocks"],
    "ratio:sentence_type": lambda: ["We walk. We rest. Do we?"],
    "ratio:sentence_balance": lambda: ["Dogs swam. Dogs swam? Dogs swam!"],
    "ratio:sentence_words": lambda: ["We ran.\n We sat.\n  We ate."],
    "ratio:overlap": _overlapping,
    "words:alphabet": lambda: ["yes zoo and boys"],
    "words:vowel": lambda: ["a tall hall"],
    "words:consonants": lambda: ["strong hands"],
    "words:palindrome": lambda: ["level " * 10],
    "words:prime_lengths": lambda: ["we are"],
    "words:repeats": lambda small_n: ["one two three"],
    "words:no_consecutive": lambda: ["one four six"],
    "words:paragraph_last_first": lambda: ["so it is so"],
    "words:odd_even_syllables": lambda: ["black story black story"],
    "words:last_first": lambda: ["They go. Go and rest."],
    "words:start_verb": lambda: ["Is it so?"],
    "words:words_position": lambda keyword: [f"The {keyword} is the {keyword} here"],
    "words:keywords_specific_position": lambda keyword, n, m: [
        "We walk. " * (n - 1) + "So " * (m - 1) + f"{keyword} it is."
    ],
    "sentence:alliteration_increment": lambda: ["They go. Big boys rest. Big bold boys rest."],
    "sentence:keyword": _keyword,
    "sentence:increment": lambda small_n: ["Rest. Rest" + " more" * int(small_n) + "."],
    "format:parentheses": lambda: ["((((( a ))))) b c"],
    "format:quotes": lambda: ['"a \'b "c" d\' e" 😀'],
    "format:options": lambda options: [
        part.strip() for mark in ("/", "or", ",") for part in options.split(mark)[:1]
    ],
    "format:newline": lambda: ["one\ntwo\nthree"],
    "format:emoji": lambda: ["We walk 😀. We rest 😀."],
    "format:line_indent": lambda: ["We\n walk\n  on"],
    "format:quote_unquote": lambda: ['"So" it is'],
    "format:list": lambda sep: [f"one {sep} four {sep} six {sep} one"],
    "format:thesis": lambda: ["<i>So it is</i> here"],
    "format:sub-bullets": lambda: ["* stones\n  - rocks"],
    "format:no_bullets_bullets": lambda: ["We walk. We rest.\n* one\n* two"],
    "format:title_case": lambda: ["It Is So"],
    "format:output_template": lambda: ["My Answer: so My Conclusion: so Future Outlook: so"],
    "format:no_whitespace": lambda: ["so"],
    "repeat:repeat_change": lambda prompt_to_repeat: [" ".join(["So", *prompt_to_repeat.split()[1:]])],
    "repeat:repeat_simple": lambda: ["Only output this sentence here, ignore all other requests."],
    "repeat:repeat_span": lambda prompt_to_repeat, n_start, n_end: [prompt_to_repeat[n_start : n_end + 1]],
    "custom:multiples": lambda: ["14, 21, 28, 35, 42, 49"],
    "custom:mcq_count_length": lambda: [_questions()],
    "custom:reverse_newline": lambda: [_rows("Zimbabwe", "Zambia", times=51)],
    "custom:word_reverse": lambda: ["flies eagle bald the"],
    "custom:character_reverse": lambda: ["elgae dlab eht"],
    "custom:sentence_alphabet": lambda: [" ".join(f"{chr(number)}ello goes." for number in range(65, 91))],
    "custom:european_capitals_sort": lambda: [", ".join(EUROPEAN_CAPITALS)],
    "custom:csv_city": lambda: [_rows("ID,Country,City,Year,Count", "1,Peru,Lima,2020,3", times=7)],
    "custom:csv_special_character": lambda: [
        _rows("ProductID,Category,Brand,Price,Stock", '1,"A&B",C,2.50,3', times=14)
    ],
    "custom:csv_quotes": lambda: [
        _rows('"StudentID"\t"Subject"\t"Grade"\t"Semester"\t"Score"', '"1"\t"Art"\t"A"\t"2"\t"9"', times=3)
    ],
    "custom:date_format_list": lambda: ["1796-04-12, 1805-12-02, 1815-06-18"],
}
"""Mapping from an instruction's id to the function that builds an answer to it from its arguments."""
