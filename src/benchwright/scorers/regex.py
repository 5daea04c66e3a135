"""Regex: the answer matches a regular expression."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from benchwright.engine.protocols import Score, Session
from benchwright.errors import GraderError, UserError
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint
from benchwright.scorers.shared import quoted, target_text

VERSION = 1
LONGEST_ANSWER = 100_000
MATCH_SECONDS = 0.25


class Regex:
    """1 where the pattern is found in the answer, else 0.

    The pattern is `pattern`, or each sample's own `ground_truth`. `full` asks that it match the whole
    answer (white space at either end aside), `ignore_case` lets upper and lower case be alike.

    Some patterns take time exponential in the length of the text, `(a+)+$` among them. A search that has
    taken 0.25 s of CPU time is given up as a grader error, and so is an answer of more than 100,000
    characters. The time limit is a signal and so holds in the main thread only, where runs take place.

    Raises:
        UserError: `pattern` is not a regular expression.
    """

    name = "regex"

    def __init__(self, *, pattern: str | None = None, full: bool = False, ignore_case: bool = False) -> None:
        self.full = full
        self.flags = re.IGNORECASE if ignore_case else re.NOFLAG
        try:
            self.pattern = None if pattern is None else re.compile(pattern, self.flags)
        except re.error as error:
            raise UserError(f"The pattern {pattern!r} is not a regular expression: {error}") from error
        self.fingerprint = fingerprint(self.name, VERSION, pattern, full, ignore_case)

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Searches the answer for the pattern, or for `ground_truth` as a pattern."""
        answer = outcome.answer.strip()
        if len(answer) > LONGEST_ANSWER:
            raise GraderError(
                f"the answer has {len(answer)} characters; at most {LONGEST_ANSWER} are searched"
            )
        pattern = self.pattern or self._target_pattern(sample)
        with _time_limit(pattern.pattern):
            found = pattern.fullmatch(answer) if self.full else pattern.search(answer)
        return Score(0.0) if found is None else Score(1.0, span=quoted(found[0]))

    def _target_pattern(self, sample: Sample) -> re.Pattern[str]:
        target = target_text(sample)
        try:
            return re.compile(target, self.flags)
        except re.error as error:
            raise GraderError(f"ground_truth {target!r:.80} is not a regular expression: {error}") from error


class _OutOfTime(Exception):
    """The search took too long."""


def _give_up(number: int, frame: FrameType | None) -> None:
    raise _OutOfTime


@contextmanager
def _time_limit(pattern: str) -> Iterator[None]:
    """Ends its body after `MATCH_SECONDS` of CPU time; `re` lets signals in while it searches."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _give_up)
    try:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, MATCH_SECONDS)
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except _OutOfTime:
        raise GraderError(f"the pattern {pattern!r:.80} was not decided in {MATCH_SECONDS} s") from None
    finally:
        signal.signal(signal.SIGVTALRM, before)
