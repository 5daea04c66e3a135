"""Multi-IF's rules: the rules of IFEval. Three of them are changed for languages other than English.

Thai, which the dataset does not contain, is counted like English; the official code uses `pythainlp`.
"""

from __future__ import annotations

import re
from functools import cache

from benchwright.catalog.ifeval.grading import build_rules as ifeval_rules
from benchwright.catalog.ifeval.language_detection import detect_language
from benchwright.catalog.ifeval.rules import CountRelation, Rules, compare
from benchwright.catalog.ifeval.splitters import SplitFunction, Splitter, split_function
from benchwright.catalog.ifeval.word_counting import count_words

CHINESE_AND_JAPANESE_CODES = ("zh", "zh-cn", "zh-tw", "ja")

QUOTATION_MARKS = ('""', "“”", "「」")

_CHANGED = Rules()

_rule = _CHANGED.register_rule


@cache
def build_rules(splitter: Splitter) -> Rules:
    """Return all 25 rules. `splitter` splits the sentences of languages that have no rule of their own."""
    counting = _counting_rules(split_function(splitter))
    return Rules({**ifeval_rules(splitter).by_id, **_CHANGED.by_id, **counting.by_id})


@_rule("length_constraints:number_words")
def has_word_count(response: str, num_words: int, relation: CountRelation) -> bool:
    r"""Check that the number of words has the required relation to `num_words`.

    In Hindi, vowel signs and other characters that `\w` does not match split words, as in the official code.
    """
    chinese = detect_language(response) in CHINESE_AND_JAPANESE_CODES
    return compare(count_chinese_words(response) if chinese else count_words(response), relation, num_words)


def _counting_rules(split: SplitFunction) -> Rules:
    counting = Rules()

    @counting.register_rule("length_constraints:number_sentences")
    def number_sentences(response: str, num_sentences: int, relation: CountRelation) -> bool:
        """Check that the number of sentences has the required relation to `num_sentences`.

        Sentences are split by the rules of the detected language.
        """
        language = detect_language(response)
        if language == "hi":
            count = count_hindi_sentences(response)
        elif language in CHINESE_AND_JAPANESE_CODES:
            count = count_chinese_sentences(response)
        else:
            count = len(split(response))
        return compare(count, relation, num_sentences)

    return counting


@_rule("startend:quotation")
def is_quoted(response: str) -> bool:
    """Check that the response is enclosed in quotation marks: straight, curly or corner ones."""
    text = response.strip()
    return len(text) > 1 and text[0] + text[-1] in QUOTATION_MARKS


_PUNCTUATION = str.maketrans(
    dict.fromkeys("\\.!?．/_,{}<>:;$%^&*(+\"'—！，。？、`~@#￥…（）：；《》“”)[]»〔〕-「」")
)

_CHARACTER = re.compile(r"[\u4E00-\u9FFF\u3400-\u4DBF\u3040-\u30FF\uAC00-\uD7AF]")
"""Regular expression for a character that counts as a word: Chinese, kana, or a Hangul syllable."""

_PICTURE = (
    "[©®‼⁉™ℹ↔-↙↩↪⌚⌛⌨⏏⏩-⏳⏸-⏺Ⓜ▪▫▶◀◻-◾☀-☄☎☑☔☕☘☝☠☢☣☦☪☮☯☸-☺♀♂♈-♓♟♠♣♥♦♨♻♾♿⚒-⚗⚙⚛⚜⚠⚡⚧⚪⚫⚰⚱⚽⚾"
    "⛄⛅⛈⛎⛏⛑⛓⛔⛩⛪⛰-⛵⛷-⛺⛽✂✅✈-✍✏✒✔✖✝✡✨✳✴❄❇❌❎❓-❕❗❣❤➕-➗➡➰➿⤴⤵⬅-⬇⬛⬜⭐⭕〰〽㊗㊙"
    "\U0001f004-\U0001f19a\U0001f201-\U0001f251\U0001f300-\U0001faff]"
)
_DRESSED = rf"{_PICTURE}\ufe0f?[\U0001F3FB-\U0001F3FF]?[\U000E0020-\U000E007F]*+"
_EMOJI = re.compile(rf"[\U0001F1E6-\U0001F1FF]{{2}}|[0-9]\ufe0f?\u20e3|{_DRESSED}(?:\u200d{_DRESSED})*+")

_CHINESE_SENTENCE = re.compile(r"[^!?。.！？．]+")
_HINDI_END = re.compile(r"[।!?]")


def count_chinese_words(text: str) -> int:
    """Return the number of words of Chinese or Japanese text.

    A word is one character of these scripts, one emoji, or a run of other letters. Punctuation is removed
    first, so that letters before and after a punctuation mark form one word. The official code recognizes
    emojis with the package `emoji`; here a regular expression matches the same code points.
    """
    text, emojis = _EMOJI.subn("", text.translate(_PUNCTUATION))
    others, characters = _CHARACTER.subn(" ", text)
    return emojis + characters + len(others.split())


def count_chinese_sentences(text: str) -> int:
    """Return the number of sentences of Chinese or Japanese text. A line break ends a sentence."""
    return sum(len(_CHINESE_SENTENCE.findall(line.strip())) for line in text.splitlines())


def count_hindi_sentences(text: str) -> int:
    """Return the number of sentences of Hindi text. A danda, `!` or `?` ends a sentence."""
    pieces = _HINDI_END.split(text)
    ended = sum(1 for _ in _HINDI_END.finditer(text))
    return ended + bool(pieces[-1].strip())
