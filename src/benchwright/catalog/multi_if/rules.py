"""Multi-IF's rules: those of IFEval, with three changed for other languages than English.

Thai, which the dataset does not have, is counted like English; the official code asks `pythainlp`.
"""

from __future__ import annotations

import re
from functools import cache

from benchwright.catalog.ifeval.grading import rules as ifeval_rules
from benchwright.catalog.ifeval.language import detected_language
from benchwright.catalog.ifeval.rules import Relation, Rules, compare
from benchwright.catalog.ifeval.splitters import Split, Splitter, splitting
from benchwright.catalog.ifeval.words import word_count

CHINESE = ("zh", "zh-cn", "zh-tw", "ja")

QUOTES = ('""', "“”", "「」")

_CHANGED = Rules()

_rule = _CHANGED.rule


@cache
def rules(splitter: Splitter) -> Rules:
    """All 25 rules, with sentences split by this splitter where the language has no rule of its own."""
    counting = _counting_rules(splitting(splitter))
    return Rules({**ifeval_rules(splitter).by_id, **_CHANGED.by_id, **counting.by_id})


@_rule("length_constraints:number_words")
def number_words(response: str, num_words: int, relation: Relation) -> bool:
    r"""That many words. In Hindi the signs that `\w` leaves out cut words in pieces, as in the official code."""
    chinese = detected_language(response) in CHINESE
    return compare(chinese_words(response) if chinese else word_count(response), relation, num_words)


def _counting_rules(split: Split) -> Rules:
    counting = Rules()

    @counting.rule("length_constraints:number_sentences")
    def number_sentences(response: str, num_sentences: int, relation: Relation) -> bool:
        """That many sentences, ended as in the language that is detected."""
        language = detected_language(response)
        if language == "hi":
            count = hindi_sentences(response)
        elif language in CHINESE:
            count = chinese_sentences(response)
        else:
            count = len(split(response))
        return compare(count, relation, num_sentences)

    return counting


@_rule("startend:quotation")
def quotation(response: str) -> bool:
    """The response stands within quotation marks: straight, curly or corner ones."""
    text = response.strip()
    return len(text) > 1 and text[0] + text[-1] in QUOTES


_PUNCTUATION = str.maketrans(
    dict.fromkeys("\\.!?．/_,{}<>:;$%^&*(+\"'—！，。？、`~@#￥…（）：；《》“”)[]»〔〕-「」")
)

_CHARACTER = re.compile(r"[\u4E00-\u9FFF\u3400-\u4DBF\u3040-\u30FF\uAC00-\uD7AF]")
"""A character that is a word of its own: Chinese, kana, or a Hangul syllable."""

_PICTURE = (
    "[©®‼⁉™ℹ↔-↙↩↪⌚⌛⌨⏏⏩-⏳⏸-⏺Ⓜ▪▫▶◀◻-◾☀-☄☎☑☔☕☘☝☠☢☣☦☪☮☯☸-☺♀♂♈-♓♟♠♣♥♦♨♻♾♿⚒-⚗⚙⚛⚜⚠⚡⚧⚪⚫⚰⚱⚽⚾"
    "⛄⛅⛈⛎⛏⛑⛓⛔⛩⛪⛰-⛵⛷-⛺⛽✂✅✈-✍✏✒✔✖✝✡✨✳✴❄❇❌❎❓-❕❗❣❤➕-➗➡➰➿⤴⤵⬅-⬇⬛⬜⭐⭕〰〽㊗㊙"
    "\U0001f004-\U0001f19a\U0001f201-\U0001f251\U0001f300-\U0001faff]"
)
_DRESSED = rf"{_PICTURE}\ufe0f?[\U0001F3FB-\U0001F3FF]?[\U000E0020-\U000E007F]*+"
_EMOJI = re.compile(rf"[\U0001F1E6-\U0001F1FF]{{2}}|[0-9]\ufe0f?\u20e3|{_DRESSED}(?:\u200d{_DRESSED})*+")

_CHINESE_SENTENCE = re.compile(r"[^!?。.！？．]+")
_HINDI_END = re.compile(r"[।!?]")


def chinese_words(text: str) -> int:
    """The words of Chinese or Japanese text: each character, each emoji, and each run of other letters.

    Punctuation is taken out first, so that letters on both sides of it become one word. The official code
    asks the package `emoji` what an emoji is; a pattern of the same code points does here.
    """
    text, emojis = _EMOJI.subn("", text.translate(_PUNCTUATION))
    others, characters = _CHARACTER.subn(" ", text)
    return emojis + characters + len(others.split())


def chinese_sentences(text: str) -> int:
    """The sentences of Chinese or Japanese text; each line ends one."""
    return sum(len(_CHINESE_SENTENCE.findall(line.strip())) for line in text.splitlines())


def hindi_sentences(text: str) -> int:
    """The sentences of Hindi text, which end with a danda or with `!` or `?`."""
    pieces = _HINDI_END.split(text)
    ended = sum(1 for _ in _HINDI_END.finditer(text))
    return ended + bool(pieces[-1].strip())
