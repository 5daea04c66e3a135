"""Scorer `json`: the answer must be or include a JSON value that equals, or with `contains` includes, the target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from benchwright.engine.protocols import Score, Session
from benchwright.errors import GraderError
from benchwright.records import DECODE_ERRORS, Outcome, Sample
from benchwright.runs.keys import fingerprint
from benchwright.scorers.shared import NO_ANSWER, shorten, target_of

VERSION = 1

_NOT_JSON = DECODE_ERRORS
_decode = msgspec.json.Decoder().decode


class Json:
    """Scorer: 1 if the answer's JSON value equals the target, else 0; `unparsed` if the answer has none.

    The answer's value is the first valid JSON among these texts: the whole answer, a fenced block (the last
    block first), the text from the first brace to the last. If the target is an array, brackets replace the
    braces. The target is `ground_truth`, a JSON value or its text. An array is one value, not a choice of
    answers.

    The order of keys does not matter, `1` equals `1.0`, and `true` is not a number. With `contains`, an
    object may have more keys than the target, at every depth. Arrays must still have equal lengths.
    """

    name = "json"

    def __init__(self, *, contains: bool = False) -> None:
        self.contains = contains
        self.fingerprint = fingerprint(self.name, VERSION, contains)

    def wrong_target(self, content: Mapping[str, Any]) -> str | None:
        """Return the reason if the target is not JSON. Return None if the target is JSON."""
        target = content.get("ground_truth")
        try:
            if isinstance(target, str):
                _decode(target)
        except _NOT_JSON as error:
            return f"the gold answer {target!r:.80} is not JSON: {error}"
        return None

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return 1 if the answer's JSON value equals `ground_truth`, or with `contains` includes it; else 0.

        Raises:
            GraderError: If the sample has no target, or its target is not JSON.
        """
        target = _target(sample)
        for text in _candidates(outcome.answer, target):
            try:
                value = _decode(text)
            except _NOT_JSON:
                continue
            return Score(1.0 if _matches(value, target, self.contains) else 0.0, span=shorten(text))
        return NO_ANSWER


def _target(sample: Sample) -> Any:
    target = target_of(sample)
    if not isinstance(target, str):
        return target
    try:
        return _decode(target)
    except _NOT_JSON as error:
        raise GraderError(f"sample {sample.id}: its ground_truth is not JSON: {error}") from error


def _candidates(answer: str, target: Any) -> Iterator[str]:
    """Yield the texts within an answer that may be its JSON value. The most likely text comes first."""
    yield answer.strip()
    for block in reversed(answer.split("```")[1::2]):
        language, newline, body = block.partition("\n")
        yield (body if newline and language.strip().isalnum() else block).strip()
    opening, closing = "[]" if isinstance(target, list) else "{}"
    start = answer.find(opening)
    if start >= 0:
        yield answer[start : answer.rfind(closing) + 1]


def _matches(value: Any, target: Any, contains: bool) -> bool:
    """Return True if a JSON value equals the target. With `contains`, the value may also have more keys."""
    if isinstance(target, dict):
        return (
            isinstance(value, dict)
            and (value.keys() >= target.keys() if contains else value.keys() == target.keys())
            and all(_matches(value[key], part, contains) for key, part in target.items())
        )
    if isinstance(target, list):
        return (
            isinstance(value, list)
            and len(value) == len(target)
            and all(_matches(one, part, contains) for one, part in zip(value, target, strict=True))
        )
    return isinstance(value, bool) == isinstance(target, bool) and bool(value == target)
