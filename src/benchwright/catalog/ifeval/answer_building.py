"""Construction of answers that follow a row's instructions.

These answers serve as gold answers in checks of the grader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from benchwright.catalog.ifeval.grading import Instruction, judge_instructions
from benchwright.catalog.ifeval.layout_rules import CONSTRAINED_RESPONSES, RESPONSE_SEPARATOR
from benchwright.catalog.ifeval.rules import FollowsInstruction, compile_expression

_LENGTHS = (0, 12, 40, 3, 150, 500)
"""Numbers of words by which built answers exceed the required number.

They are tried in this order until an answer follows all instructions.
"""


def build_answer(follows: FollowsInstruction, instructions: Sequence[Instruction]) -> tuple[str, bool]:
    """Build an answer to a row. Return the answer, and True if it follows all the instructions.

    Answers of several lengths and vocabularies are tried. Some rows contradict themselves under the official
    rules. If no answer follows all instructions, return the answer that follows most.
    """
    best, most = "", -1
    for answer in _candidates(instructions):
        followed = sum(
            judge_instructions(follows, instructions, answer, blank=not answer.strip()).strict_verdicts
        )
        if followed == len(instructions):
            return answer, True
        if followed > most:
            best, most = answer, followed
    return best, False


def _candidates(instructions: Sequence[Instruction]) -> Iterator[str]:
    wanted = Requirements(instructions)
    for turn in (0, 3, 6):
        for extra in _LENGTHS:
            for spare in (0, 2):
                yield wanted.build_answer(extra, spare, turn)


class Requirements:
    """The requirements of all instructions of a row, combined."""

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        self._asked: dict[str, list[Mapping[str, Any]]] = {}
        for one in instructions:
            self._asked.setdefault(one["id"].partition(":")[2], []).append(one["arguments"])

    def build_answer(self, extra: int, spare: int, turn: int) -> str:
        """Return an answer with `extra` words and `spare` sentences more than required.

        `turn`: index of the line of filler text with which the answer begins.
        """
        opening = self._first("repeat_prompt", "prompt_to_repeat", "")
        words = self._most("number_words", "num_words", "relation") + extra
        sentences = self._most("number_sentences", "num_sentences", "relation") + spare
        language = self._first("response_language", "language", "en")
        body = filler_text(language, words, sentences, self._usable, turn)
        text = "\n".join(part for part in (opening, *self._blocks(body, opening)) if part)
        return self._dressed(text)

    def _blocks(self, body: str, opening: str) -> Iterator[str]:
        if self._asked.get("title"):
            yield "<<on this>>"
        pieces = self._pieces()
        pieces[-1] = "\n".join(part for part in (pieces[-1], body, *self._extras(opening)) if part)
        divider = "\n***\n" if self._asked.get("number_paragraphs") else "\n\n"
        yield (divider if len(pieces) > 1 else "").join(pieces)
        if self._asked.get("two_responses"):
            yield f"{RESPONSE_SEPARATOR}\nso"
        marker = self._first("postscript", "postscript_marker", "")
        if marker:
            yield f"{marker} so"
        if self._asked.get("constrained_response"):
            yield CONSTRAINED_RESPONSES[0]
        yield from (arguments["end_phrase"] for arguments in self._asked.get("end_checker", []))

    def _pieces(self) -> list[str]:
        """Return the beginning of each paragraph. The filler text is appended to the last paragraph."""
        nth = self._asked.get("nth_paragraph_first_word", [])
        paragraphs = max(
            [arguments["num_paragraphs"] for arguments in (*nth, *self._asked.get("number_paragraphs", []))],
            default=1,
        )
        pieces = ["so"] * (paragraphs - 1) + [""]
        for arguments in nth:
            if 1 <= arguments["nth_paragraph"] <= paragraphs:
                pieces[arguments["nth_paragraph"] - 1] = arguments["first_word"]
        return pieces

    def _extras(self, opening: str) -> Iterator[str]:
        for arguments in self._asked.get("multiple_sections", []):
            word = arguments["section_spliter"]
            yield from (f"{word} {number}" for number in range(1, arguments["num_sections"] + 1))
        yield " ".join(self._mentions())
        for arguments in self._asked.get("number_bullet_lists", []):
            there = len(re.findall(r"(?m)^[^\S\n]*(?:\*[^*]|-)", opening))
            yield from ["* so"] * (arguments["num_bullets"] - there)

    def _mentions(self) -> Iterator[str]:
        for arguments in self._asked.get("existence", []):
            yield from arguments["keywords"]
        for arguments in self._at_least("frequency", "relation"):
            yield from [arguments["keyword"]] * arguments["frequency"]
        for arguments in self._at_least("letter_frequency", "let_relation"):
            yield " ".join([arguments["letter"]] * arguments["let_frequency"])
        for arguments in self._at_least("capital_word_frequency", "capital_relation"):
            yield from ["SO"] * arguments["capital_frequency"]
        for arguments in self._asked.get("number_highlighted_sections", []):
            yield from (f"*so {number}*" for number in range(arguments["num_highlights"]))
        for arguments in self._asked.get("number_placeholders", []):
            yield from ["[so]"] * arguments["num_placeholders"]

    def _dressed(self, text: str) -> str:
        """Return the text in the required form: in the required case, without commas, as JSON, in quotation marks."""
        if self._asked.get("english_capital"):
            text = text.upper()
        if self._asked.get("english_lowercase"):
            text = text.lower()
        if self._asked.get("no_comma"):
            text = text.replace(",", "")
        if self._asked.get("json_format"):
            text = json.dumps(text, ensure_ascii=False)
        return f'"{text}"' if self._asked.get("quotation") and not text.startswith('"') else text

    def _usable(self, word: str) -> bool:
        """Return True if a word of filler text breaks no instruction by itself."""
        for arguments in self._asked.get("forbidden_words", []):
            if any(
                compile_expression(one, re.IGNORECASE).search(word) for one in arguments["forbidden_words"]
            ):
                return False
        for arguments in self._asked.get("frequency", []):
            if compile_expression(arguments["keyword"], re.IGNORECASE).search(word):
                return False
        few = [one for one in self._asked.get("letter_frequency", []) if one["let_relation"] == "less than"]
        return not any(one["letter"].lower() in word for one in few)

    def _first(self, rule: str, argument: str, otherwise: str) -> str:
        asked = self._asked.get(rule)
        return str(asked[0][argument]) if asked else otherwise

    def _most(self, rule: str, argument: str, relation: str) -> int:
        return max([one[argument] for one in self._at_least(rule, relation)], default=0)

    def _at_least(self, rule: str, relation: str) -> list[Mapping[str, Any]]:
        return [one for one in self._asked.get(rule, []) if one[relation] == "at least"]


ENGLISH_FILLER = (
    "we walked along the river and talked about the small things that make a day worth living",
    "the old house at the end of the road had been empty for years but someone was cooking there now",
    "nobody could say why the train was late so they all sat down on the bench and waited for news",
    "my brother thinks that good bread should be made at night when the kitchen is quiet and warm",
    "there is much more to learn from people who have worked with their hands for most of their lives",
    "in the morning the children found out what the dog had done with the shoes of the teacher",
    "a good plan gives every person something useful to do and leaves time to rest after the work",
    "it was a long way home through the rain and yet she would not have missed it for anything",
)

FILLER_BY_LANGUAGE = {
    "ar": "هذا جواب قصير مكتوب باللغة العربية فقط ولا توجد فيه لغة أخرى",
    "bg": "това е кратък отговор написан само на български език без други думи",
    "bn": "এটি শুধুমাত্র বাংলা ভাষায় লেখা একটি ছোট উত্তর এবং এতে অন্য কোনো ভাষা নেই",
    "de": "das ist eine kurze Antwort die nur auf Deutsch geschrieben wurde und nichts anderes enthält",
    "es": "esta es una respuesta corta escrita solamente en español y no hay otro idioma en ella",
    "fa": "این یک پاسخ کوتاه است که فقط به زبان فارسی نوشته شده و زبان دیگری ندارد",
    "fi": "tämä on lyhyt vastaus joka on kirjoitettu vain suomen kielellä eikä millään muulla kielellä",
    "fr": "voici une réponse courte qui est écrite seulement en français et dans aucune autre langue",
    "gu": "આ માત્ર ગુજરાતી ભાષામાં લખાયેલો એક ટૂંકો જવાબ છે અને તેમાં બીજી કોઈ ભાષા નથી",
    "hi": "यह केवल हिन्दी भाषा में लिखा हुआ एक छोटा उत्तर है और इसमें कोई दूसरी भाषा नहीं है",
    "it": "questa è una risposta breve scritta soltanto in italiano e non contiene nessun'altra lingua",
    "kn": "ಇದು ಕನ್ನಡ ಭಾಷೆಯಲ್ಲಿ ಮಾತ್ರ ಬರೆದ ಒಂದು ಚಿಕ್ಕ ಉತ್ತರ ಮತ್ತು ಇದರಲ್ಲಿ ಬೇರೆ ಭಾಷೆ ಇಲ್ಲ",
    "ko": "이것은 한국어로만 쓴 짧은 대답이며 다른 언어는 들어 있지 않습니다",
    "mr": "हे फक्त मराठी भाषेत लिहिलेले एक छोटे उत्तर आहे आणि त्यात दुसरी कोणतीही भाषा नाही",
    "ne": "यो नेपाली भाषामा मात्र लेखिएको छोटो उत्तर हो र यसमा अरू कुनै भाषा छैन भन्ने कुरा स्पष्ट छ",
    "pa": "ਇਹ ਸਿਰਫ਼ ਪੰਜਾਬੀ ਭਾਸ਼ਾ ਵਿੱਚ ਲਿਖਿਆ ਇੱਕ ਛੋਟਾ ਜਵਾਬ ਹੈ ਅਤੇ ਇਸ ਵਿੱਚ ਹੋਰ ਕੋਈ ਭਾਸ਼ਾ ਨਹੀਂ",
    "pt": "esta é uma resposta curta escrita somente em português e não há nenhuma outra língua nela",
    "ru": "это короткий ответ который написан только на русском языке и других языков в нём нет",
    "sw": "hili ni jibu fupi ambalo limeandikwa kwa lugha ya kiswahili pekee na hakuna lugha nyingine ndani yake",
    "ta": "இது தமிழ் மொழியில் மட்டும் எழுதப்பட்ட ஒரு சிறிய பதில் இதில் வேறு மொழி இல்லை",
    "te": "ఇది తెలుగు భాషలో మాత్రమే రాసిన ఒక చిన్న సమాధానం ఇందులో వేరే భాష లేదు",
    "th": "นี่คือคำตอบสั้น ๆ ที่เขียนเป็นภาษาไทยเท่านั้น และไม่มีภาษาอื่นอยู่ในนี้",
    "ur": "یہ صرف اردو زبان میں لکھا ہوا ایک چھوٹا سا جواب ہے اور اس میں کوئی دوسری زبان نہیں ہے",
    "vi": "đây là một câu trả lời ngắn chỉ được viết bằng tiếng việt và không có ngôn ngữ nào khác",
    "zh-cn": "这是一个只用中文写的简短回答里面没有别的语言",
}


def filler_text(
    language: str, words: int, sentences: int, usable: Callable[[str], bool], turn: int = 0
) -> str:
    """Return filler text of `words` words in `sentences` sentences. It has no commas and no additional capitals.

    Words that are not `usable` are skipped. `turn`: index of the line of the English filler text to begin
    with.
    """
    lines = (
        [FILLER_BY_LANGUAGE[language]]
        if language in FILLER_BY_LANGUAGE
        else [*ENGLISH_FILLER[turn:], *ENGLISH_FILLER[:turn]]
    )
    pool = [word for line in lines for word in line.split() if usable(word)] or ["so"]
    words = max(words, sentences, 1)
    chosen = [pool[index % len(pool)] for index in range(words)]
    ends = {round((number + 1) * words / max(sentences, 1)) - 1 for number in range(sentences)}
    return re.sub(r"\s+", " ", " ".join(f"{word}." if at in ends else word for at, word in enumerate(chosen)))
