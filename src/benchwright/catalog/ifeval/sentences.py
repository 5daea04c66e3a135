"""Benchwright's own sentence splitter for English, for use without Punkt's trained data.

The rules are those of Punkt (see `punkt`), with a short list of abbreviations instead of the trained
statistics.

Measured against NLTK 3.9.1 and 3.10.4 on 3,982 English texts of all kinds (prompts, papers, documentation,
licences; 23,891 sentences): 98.1 % of the texts have the same number of sentences. The differences over all
texts sum up to 0.5 % of the sentences. Of the verdicts on fourteen thresholds from 1 to 40, 0.08 % differ.
Most differences are at "Inc." and other abbreviations before a capitalised word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_END = re.compile(r"""[.?!](?=(?P<mark>[?!)";}\]*:@'({\[])|\s+(?P<next>\S))""")
"""Regular expression for a mark that may end a sentence.

Another mark follows it, or white space and more text.
"""

_CLOSING = re.compile(r"""\s*["')\]}]++(?=\s|--|$)""")
"""Regular expression for closing quotes and brackets that belong to the preceding sentence."""

_WORD = re.compile(r"[^\s?!)\";}\]*:@'({\[]+\Z")

_SPACE = re.compile(r"\s")

_LEADING = re.compile(r"\w+")

_LONGEST_WORD = 24
"""Maximum number of characters before a punctuation mark that are searched for the word before the mark.

No abbreviation is longer.
"""

_ABBREVIATIONS = (
    "mr mrs ms messrs dr prof st sr jr gen col maj lt adm sen rep reps bros inc ltd co corp cos vs v ct ave "
    "jan feb aug sep sept oct nov dec tues wed fri ala ariz calif colo conn fla ill kan ky mass mich minn "
    "okla ore tenn va vt wash u.s u.k u.n u.s.a a.m p.m d.c n.y n.j s.c n.c l.a ph.d m.b.a b.f j.p yr"
)

ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())

NON_FINAL_LETTERS = frozenset("fhnstw")
"""Single letters after which a period never ends a sentence.

After any other single letter, a period ends the sentence, unless a word follows that is not in
`SENTENCE_OPENERS`, such as the name in "J. Smith".
"""

_OPENERS = (
    "a after although an and as at because but by despite even for he her his how however i if in indeed "
    "instead it its many meanwhile moreover most my nevertheless no nor now on once our she since so some "
    "that the their then there these they this those though to under we what when where while why with "
    "yet you your"
)

SENTENCE_OPENERS = frozenset(_OPENERS.split())
"""Words that start a sentence after an abbreviation. Any other capitalised word there is taken for a name."""


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, without the white space between them."""
    pieces = []
    start = 0
    for end in _ends(text):
        if _breaks(text, end):
            closing = _CLOSING.match(text, end.end())
            stop = closing.end() if closing else end.end()
            pieces.append(text[start:stop])
            start = stop
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


def _ends(text: str) -> Iterator[re.Match[str]]:
    """Yield the marks that may end a sentence.

    If several such marks follow each other without white space between them, only the last mark is yielded.
    """
    last: re.Match[str] | None = None
    for end in _END.finditer(text):
        if last is not None and _SPACE.search(text, last.end(), end.start()):
            yield last
        last = end
    if last is not None:
        yield last


def _breaks(text: str, end: re.Match[str]) -> bool:
    if end[0] != ".":
        return True
    if text[end.start() - 1 : end.start()] == ".":
        return _opens(text, end)
    before = _WORD.search(text, max(0, end.start() - _LONGEST_WORD), end.start())
    word = before[0].lower() if before else ""
    following = end["next"] or ""
    if len(word) == 1 and word.isalpha():
        return word not in NON_FINAL_LETTERS and (_opens(text, end) or not following.isalpha())
    if word in ABBREVIATIONS or word.rpartition("-")[2] in ABBREVIATIONS:
        return _opens(text, end)
    if word.replace(",", "").replace(".", "").isdecimal():
        return not (following.islower() or following in ";:,.!?")
    return True


def _opens(text: str, end: re.Match[str]) -> bool:
    """Return True if the word after `end` may start a sentence: it is capitalised and in `SENTENCE_OPENERS`."""
    if not (end["next"] or "").isupper():
        return False
    word = _LEADING.match(text, end.start("next"))
    return word is not None and word[0].lower() in SENTENCE_OPENERS
