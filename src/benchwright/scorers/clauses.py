"""Detection of statements that do not count, because they are denied, hypothetical, or retracted later."""

from __future__ import annotations

import re

_DENIAL = re.compile(
    r"""\b(?: not(?!\s(?:only|just|surprising)) | never | neither | nor | cannot | rul(?:e[sd]?|ing)\sout | eliminat\w+
      | exclud\w+ | reject\w* | discard\w* | except | instead\sof | rather\sthan | unlike | other\sthan ) \b
      | n['\u2019]t\b""",
    re.VERBOSE | re.IGNORECASE,
)
_CLAUSE_BEGINS = re.compile(
    r"[.;:!?\n,\u3002\uff0c]|\b(?:but|so|therefore|thus|hence|because|leaving|leaves)\b", re.IGNORECASE
)
_DENIED_BEHIND = re.compile(
    r"""[)\]*"']{0,3} (?: \s
      (?: (?:is|are|was|were|can|could|would|does|do|did|seems?|has|have|must|should|be|been|to|clearly|also|therefore
          |thus|simply|just|definitely|probably) \s ){0,5}
      (?: not | never | incorrect | wrong | false | out | eliminated | excluded | ruled\sout | impossible | invalid
        | unlikely | implausible | cannot | (?:is|are|was|does|do|can|could|would|wo)n['\u2019]t | can['\u2019]t ) \b
      | \s?[✗❌] )""",
    re.VERBOSE | re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|unless|had|were|suppose|supposing|assuming|imagine|in\scase|otherwise)\b", re.IGNORECASE
)
_UNREAL = re.compile(r"\b(?:would|could|might|were|had)\b", re.IGNORECASE)
_RIGHT_BEFORE = re.compile(
    r"\b(?:if|whether|unless|suppose|supposing|assuming|imagine|say)(?:\sthat)?"
    r"(?:\s(?:the|my|correct|right|best|option|choice))*\s*\Z",
    re.IGNORECASE,
)
_CONDITION_BEHIND = re.compile(r"[)\]*\"']{0,3},?\s(?:only\s)?(?:if|unless|were)\b", re.IGNORECASE)
_SENTENCE_ENDS = re.compile(r"[.!?](?=\s)|[\n\u3002]")
MAX_SENTENCE_CHARACTERS = 300
"""Maximum number of characters before a statement that are searched for the beginning of its sentence."""

_RETRACTION = re.compile(
    r"""\b(?: (?:that|this|which) (?:['\u2019]s|\s(?:is|was|can['\u2019]?t\sbe|cannot\sbe)) \s
          (?:wrong|incorrect|not\s(?:right|correct)|a\smistake)
      | I \s (?:made|have\smade) \s (?:a|an) \s (?:\w+\s)? (?:mistake|error) | I \s was \s (?:wrong|mistaken)
      | scratch\sthat | on\ssecond\sthought | correction\s?: | (?:no,?\s+wait|wait,?\s+no)\b
      | (?:let\sme|I['\u2019]ll) \s (?:correct|fix|revise) )""",
    re.VERBOSE | re.IGNORECASE,
)


def sentence_before(text: str, place: int) -> str:
    """Return the text between the beginning of a sentence and a position in it.

    At most `MAX_SENTENCE_CHARACTERS` characters are returned.
    """
    before = text[max(0, place - MAX_SENTENCE_CHARACTERS) : place]
    ends = list(_SENTENCE_ENDS.finditer(before))
    return before[ends[-1].end() :] if ends else before


def is_denied(text: str, start: int, end: int) -> bool:
    """Return True if the clause that contains a statement denies the statement (`neither A`, `B is wrong`)."""
    before = sentence_before(text, start)
    begins = list(_CLAUSE_BEGINS.finditer(before))
    clause = before[begins[-1].end() :] if begins else before
    return _DENIAL.search(clause) is not None or _DENIED_BEHIND.match(text, end) is not None


def is_hypothetical(text: str, start: int, end: int) -> bool:
    """Return True if a statement holds only under an unreal condition (`if x were 2, it would be C`)."""
    before, statement = sentence_before(text, start), text[start:end]
    if _RIGHT_BEFORE.search(before) or (
        _UNREAL.search(before + statement) and _CONDITION_BEHIND.match(text, end)
    ):
        return True
    return _SUPPOSED.search(before) is not None and _UNREAL.search(before + statement) is not None


def retraction_end(text: str, start: int) -> int | None:
    """Return the end of the last words after `start` that retract an answer. Return None if no words do."""
    last = None
    for found in _RETRACTION.finditer(text, start):
        last = found.end()
    return last
