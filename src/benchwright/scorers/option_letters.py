"""Search for the option letter that an answer settles on. docs/scorers.md states the rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchwright.scorers.ascii_characters import to_ascii
from benchwright.scorers.clauses import is_denied, is_hypothetical, retraction_end, sentence_before
from benchwright.scorers.exact import normalize_text
from benchwright.scorers.shared import last_characters

_PROSE = r"\s+(?!(?:because|since|as|and|or|but|with|which|that|for|from)\b)[a-z]"
_ALONE = r"(?!\w|['\u2019]\w|[+#]|-\w)"
_LETTER = rf"""(?:
    [(\[]\s?([A-Za-z])\s?[)\]]
  | ([B-HJ-Z]){_ALONE}
  | ([AI]){_ALONE}(?!{_PROSE})
  | ([a-z])(?=[.*"'\s]{{0,4}}$) )"""
_OPTION_LETTER = rf"(?:{_LETTER}|([AI]){_ALONE})"
_ADVERB = (
    r"(?:therefore|thus|so|hence|indeed|clearly|actually|really|in\sfact|now|then|most\slikely|likely|probably|definitely"
    r"|certainly|instead|simply|just|still|obviously|only|most\sprobably)"
)
_IS = (
    r"(?:is|are|was|would\sbe|should\sbe|must\sbe|will\sbe|seems\sto\sbe|appears\sto\sbe|has\sto\sbe|ought\sto\sbe|becomes"
    r"|remains|['\u2019]s)"
)
_CHOOSE = (
    r"(?:choose|chose|choosing|pick|picking|select|selecting|go\swith|going\swith|go\sfor|settle\son|stick\swith"
    r"|switch(?:ing)?\sto|chang\w+\s(?:my|the|this)\s(?:answer|choice|mind)\sto"
    r"|(?:leaves|leaving)(?:\sus)?(?:\sonly|\swith)?)"
)
_TO_THE_QUESTION = r"(?:\sto\s(?:the|this|your)\s(?:question|problem))?"
_CORRECT = r"(?:most\slikely\s)?(?:final\s)?(?:correct|right|best|most\sappropriate|answer\b)(?!\s?to\b)"
_STATEMENT = re.compile(
    rf"""
    \\boxed\{{\s?(?:\\(?:text|textbf|mathrm|mathbf|bf|rm)\{{)?\s?\(?([A-Za-z])\)?\s?(?:[.:)]\s[^{{}}]{{0,200}})?\}}
  | \\boxed\{{\s?([A-Z])[.:)]\s?\\text
  | <answer>\s*\(?([A-Za-z])\)?\s*</answer>
  | \[\[([A-Za-z])\]\]
  | (?i:\banswers?(?:\s(?:choice|option|letter))?{_TO_THE_QUESTION})
    (?:[^\w\n]{{0,3}}\s(?i:{_IS})\b|[^\w\n]{{0,3}}[:=]) [\s:*_"'`$]{{0,8}} (?:(?i:{_ADVERB}),?\s){{0,2}}
    (?:(?i:option|choice|letter)\s[*"'`]{{0,3}}{_OPTION_LETTER}|{_LETTER})
  | (?i:\b(?:option|choice|letter|pick|selection)\s?{_IS}|\b(?:correct|right|best)\s(?:option|choice|letter|one)\s?:)
    [\s:*_"'`$]{{1,8}}(?:(?i:{_ADVERB}),?\s){{0,2}}{_LETTER}
  | (?i:\b{_CHOOSE})\s(?:(?i:{_ADVERB})\s)?
    (?:(?i:option|choice|letter|answer)\s[*"'`(]{{0,3}}{_OPTION_LETTER}|[*"'`]{{0,3}}{_LETTER})
  | (?i:\b(?:it|this|that)\s?{_IS}) \s(?:(?i:{_ADVERB}),?\s)?(?:(?i:option|choice|letter)\s)?[*"'`]{{0,3}}{_LETTER}
    (?=[*"'`)\]]{{0,3}}\s*(?:[.,;!]|$|\sbecause|\ssince))
  | (?<![\w'\u2019-])(?i:(?:option|choice|letter|answer)\s)?[(\[*]{{0,3}}([A-Z])[)\]*]{{0,3}}
    \s(?i:{_IS}\s(?:{_ADVERB}\s)?(?:the\s|my\s)?{_CORRECT})
  | (?:答案|正确选项|正解|答え|정답|정답은|选项)\s?(?:应该|应)?(?:是|为|选|は)?\s?[:：]?\s?[*(（]{{0,3}}
    ([A-Z])(?![A-Za-z])
  | (?:故|应|因此|所以)?选(?:择)?(?:项)?\s?[:：]?\s?[*(（]{{0,3}}([A-Z])(?![A-Za-z])
  | \b(?:Antwort|R[ée]ponse|Respuesta|Risposta|Resposta|Ответ)\b[*_"]{{0,3}}\s?(?:ist|est|es|è|é)?\s?[:：]?\s?
    [*(]{{0,3}}([A-Z])(?!\w)
    """,
    re.VERBOSE | re.MULTILINE,
)
_BOLD = re.compile(r"\*\*\s?[(\[]?([A-Z])(?:[)\].:]|\s?\*\*)")
_LONE = re.compile(r"""^[ \t>*_(\["'`$-]{0,6}([A-Za-z])[ \t*_)\]"'`$.:]{0,6}$""", re.MULTILINE)
_LABEL = re.compile(r"^[ \t>*(\[-]{0,6}([A-Z])[.)\]]|^[ \t>*]{0,6}\(([a-z])\)(?=\s)", re.MULTILINE)
_NAMED = "".join(
    rf"(?<!{name} )"
    for name in (
        r"\ba",
        "[Pp]lan",
        "itamin",
        "epatitis",
        "[Tt]ype",
        "[Gg]rade",
        "[Cc]lass",
        "[Gg]roup",
        "[Pp]art",
    )
)
"""Lookbehinds (regular expression) for words after which a capital is no option letter: vitamin D, plan B, a C."""

_MENTION = re.compile(
    rf"(?i:\b(?:option|choice|letter|answer)\s)[(\[*\"']{{0,3}}([A-Z]){_ALONE}"
    rf"|(?<![\w.°-])(?<!\w['\u2019]){_NAMED}(?:([B-HJ-Z]){_ALONE}|([AI])(?=[)\]]|\s*[.,;!?]|\s*\Z|\s+(?:or|and|nor)\s+[A-Z]\b))"
)
_AND_NEXT = re.compile(
    r"[)\]*\s]{0,4}(?:/|&|,|\bor\b|\band\b)\s?(?:\b(?:or|and|option|choice)\s)?[(\[*]{0,3}([A-Z])[)\]*]{0,3}(?=\s*(?:[.,;/]|$|\bor\b|\band\b|\bare\b))"
)
_AND_BEFORE = re.compile(
    r"(?<!\w)([A-Z])[)\]*]{0,3}\s?(?:/|&|,|\bor\b|\band\b)\s?(?:or\s|and\s)?[(\[*]{0,3}\Z"
)
_REACH = 16
MAX_SEARCH_CHARACTERS = 1_000
"""Maximum number of characters searched for option letters in one sentence.

Of a longer sentence, only the end is searched.
"""

_STATED_TEXT = re.compile(r"(?i:\banswer\s(?:is|would\sbe)\b|\banswer\s?[:=])[\s:*_\"'`]{0,6}([^\n]{1,300})")
_SENTENCE = re.compile(r"[^\n\u3002]+?(?:[.!?](?=\s|\Z)|$|(?=[\n\u3002]))", re.MULTILINE)
_CORRECTS = re.compile(
    r"\b(?:but|no|actually|rather|wait|instead|so|therefore|hence|thus|correct\w*|change)\b", re.I
)


class LetterMatch(NamedTuple):
    """A letter named in a text, with the start and end of the matched words.

    `letter`: empty if the text names several letters, or denies or retracts its answer.
    """

    letter: str
    start: int
    end: int


def find_option_letter(answer: str, letters: str, options: Sequence[str] = ()) -> tuple[str, str] | None:
    """Return the option letter that an answer settles on, and the words that state it. Return None if there is none.

    `letters`: the option letters in capitals. `options`: the texts of the options. The time is linear in the
    length of the answer. Only the end of a very long answer is searched, see `shared.last_characters`.
    """
    raw = last_characters(answer)
    text = to_ascii(raw)
    found = _stated(text, letters) or _shown(text, letters) or _mentioned(text, letters)
    if found is None:
        return _by_text(raw, letters, options)
    return (found.letter, raw[found.start : found.end]) if found.letter else None


def _stated(text: str, letters: str) -> LetterMatch | None:
    """Return the letter of the last statement ("the answer is X") that is not denied.

    If this statement is retracted later, the letter is taken from the text after the retraction. The letter
    is empty if that text has none, or if the statement's sentence states another letter, too. Return None if
    there is no such statement.
    """
    statements = [*_all(_STATEMENT, text, letters)]
    last = next((found for found in reversed(statements) if _holds(text, found)), None)
    if last is None:
        return None
    back = retraction_end(text, last.end)
    if back is not None:
        rest = _shown(text, letters, back) or _mentioned(text, letters, back)
        return rest or LetterMatch("", last.start, last.end)
    begin = last.start - len(sentence_before(text, last.start))
    rivals = [one for one in statements if begin <= one.start < last.start and one.letter != last.letter]
    contested = any(_holds(text, one) and not _CORRECTS.search(text[one.end : last.start]) for one in rivals)
    return LetterMatch("", last.start, last.end) if contested else last


def _shown(text: str, letters: str, start: int = 0) -> LetterMatch | None:
    """Return a letter in bold type, alone on a line, or at the start of a line. Return None if there is none."""
    return (
        _only(_BOLD, text, letters, start)
        or next(iter([*_all(_LONE, text, letters, start)][-1:]), None)
        or _only(_LABEL, text, letters, start)
    )


def _mentioned(text: str, letters: str, start: int = 0) -> LetterMatch | None:
    """Return the letter that is mentioned and not denied in the last sentence that mentions letters.

    The letter is empty if that sentence denies all its letters, or leaves several. Letters that label lines
    do not count if the answer discusses the options line by line. Return None if no sentence mentions a
    letter.
    """
    labels = {found.start(found.lastindex or 0) for found in _LABEL.finditer(text, start)}
    walk = labels if len({text[place] for place in labels}) > 1 else set()
    for begin, end in reversed([found.span() for found in _SENTENCE.finditer(text, start)]):
        matches = [*_MENTION.finditer(text, max(begin, end - MAX_SEARCH_CHARACTERS), end)]
        mentions = [_found(one) for one in matches if one.start(one.lastindex or 0) not in walk]
        mentions = [one for one in mentions if one.letter in letters]
        if not mentions:
            continue
        left = [one for one in mentions if _holds(text, one)]
        if len({one.letter for one in left}) > 1:
            return LetterMatch("", begin, end)
        return left[-1] if left else LetterMatch("", begin, end)
    return None


def _by_text(raw: str, letters: str, options: Sequence[str]) -> tuple[str, str] | None:
    """Return (letter, text) of the option whose text is the whole answer or follows "the answer is".

    Return None if no option has this text, or if several have it.
    """
    if len(raw) > 2_000 or not options:
        return None
    texts = [normalize_text(option) for option in options[: len(letters)]]
    stated = [found[1] for found in _STATED_TEXT.finditer(raw)]
    for piece in (raw.strip(), *reversed(stated)):
        if texts.count(normalize_text(piece)) == 1:
            return letters[texts.index(normalize_text(piece))], piece
    return None


def _all(pattern: re.Pattern[str], text: str, letters: str, start: int = 0) -> Iterator[LetterMatch]:
    for match in pattern.finditer(text, start):
        found = _found(match)
        if found.letter in letters:
            yield found._replace(
                letter="" if _is_one_of_several(text, match, found.letter, letters) else found.letter
            )


def _only(pattern: re.Pattern[str], text: str, letters: str, start: int) -> LetterMatch | None:
    """Return the last match of a pattern if all matches name the same letter. Return None otherwise."""
    found = [*_all(pattern, text, letters, start)]
    return found[-1] if found and len({one.letter for one in found}) == 1 else None


def _found(match: re.Match[str]) -> LetterMatch:
    return LetterMatch(match[match.lastindex or 0].upper(), match.start(), match.end())


def _holds(text: str, found: LetterMatch) -> bool:
    return not is_denied(text, found.start, found.end) and not is_hypothetical(text, found.start, found.end)


def _is_one_of_several(text: str, match: re.Match[str], letter: str, letters: str) -> bool:
    """Return True if the matched letter is one of several in a choice: `A or B`, `A, B`, `A and B`."""
    start = match.start(match.lastindex or 0)
    others = (_AND_NEXT.match(text, match.end()), _AND_BEFORE.search(text[max(0, start - _REACH) : start]))
    return any(other is not None and other[1] != letter and other[1] in letters for other in others)
