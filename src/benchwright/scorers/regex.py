"""Scorer `regex`: the answer must match a regular expression."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from benchwright.engine.offload import offload, offload_processes
from benchwright.engine.protocols import Score, Session
from benchwright.errors import GraderError, UserError
from benchwright.records import Outcome, Sample
from benchwright.runs.keys import fingerprint
from benchwright.scorers.shared import right_answers, right_texts, shorten

VERSION = 2
MAX_ANSWER_LENGTH = 100_000
MAX_PATTERN_LENGTH = 10_000
MAX_INLINE_SECONDS = 0.005
MAX_MATCH_SECONDS = 0.25
SIGNAL_RETRY_SECONDS = 0.001
"""Seconds until the timer's next signal, if the last signal came when no exception could be raised."""

RE_DIRECTORY = str(Path(re.__file__).parent)
"""Directory with the source files of Python's module `re`."""


class Regex:
    """Scorer: 1 if a regular expression is found in the answer, else 0.

    The regular expression is `pattern`. Without `pattern`, it is the sample's `ground_truth`; if that is a
    list, one of the expressions in the list must match. With `full`, the whole answer must match, except for
    white space at either end. With `ignore_case`, case is ignored.

    Some expressions, such as `(a+)+$`, take time exponential in the length of the text. A search that is not
    finished within 5 ms is repeated in another process, so that it delays no other trial. If the repeated
    search takes more than 0.25 s of CPU time, the result is a grader error. An answer of more than 100,000
    characters is a grader error, too.

    Raises:
        UserError: If `pattern` is not a regular expression.
    """

    name = "regex"

    def __init__(self, *, pattern: str | None = None, full: bool = False, ignore_case: bool = False) -> None:
        self.pattern = pattern
        self.full = full
        self.flags = re.IGNORECASE if ignore_case else re.NOFLAG
        if pattern is not None and (wrong := _what_is_wrong(pattern, self.flags)):
            raise UserError(f"The pattern {pattern!r:.80} is not a regular expression: {wrong}")
        self.fingerprint = fingerprint(self.name, VERSION, pattern, full, ignore_case)

    def wrong_target(self, content: Mapping[str, Any]) -> str | None:
        """Return the reason if the target is not a regular expression.

        Return None if the target is one, or if `pattern` is used instead of the target.
        """
        if self.pattern is not None:
            return None
        try:
            patterns = [str(one) for one in right_answers(content.get("ground_truth"))]
        except ValueError as error:
            return str(error)
        found = ((one, _what_is_wrong(one, self.flags)) for one in patterns)
        return next(
            (f"{one!r:.80} is not a regular expression: {wrong}" for one, wrong in found if wrong), None
        )

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return 1 if the pattern (`pattern`, else `ground_truth`) is found in the answer, else 0.

        Raises:
            GraderError: If the answer is too long, the search takes too long, or the sample's pattern is
                missing or not a regular expression.
        """
        answer = outcome.answer.strip()
        if len(answer) > MAX_ANSWER_LENGTH:
            raise GraderError(
                f"the answer has {len(answer)} characters; at most {MAX_ANSWER_LENGTH} are searched"
            )
        patterns = right_texts(sample) if self.pattern is None else [self.pattern]
        for pattern in patterns:
            span = await self._found(pattern, answer)
            if span is not None:
                return Score(1.0, span=shorten(span))
        return Score(0.0)

    async def _found(self, pattern: str, answer: str) -> str | None:
        search = (pattern, int(self.flags), self.full, answer)
        try:
            return find_match(*search, MAX_INLINE_SECONDS)
        except _OutOfTime:
            async with offload_processes():
                return await offload(find_match_in_worker, *search)


def find_match(pattern: str, flags: int, full: bool, answer: str, seconds: float) -> str | None:
    """Return the text that the pattern matches in the answer. Return None if there is no match.

    Raises:
        GraderError: If the pattern is not a regular expression.
        _OutOfTime: If the search takes more than `seconds` of CPU time, or this thread has no time limit.
    """
    with _time_limit(seconds):
        if wrong := _what_is_wrong(pattern, flags):
            raise GraderError(f"ground_truth {pattern!r:.80} is not a regular expression: {wrong}")
        compiled = re.compile(pattern, flags)
        found = compiled.fullmatch(answer) if full else compiled.search(answer)
        return None if found is None else found[0]


def find_match_in_worker(pattern: str, flags: int, full: bool, answer: str) -> str | None:
    """Return the result of `find_match`, run in a worker process with a time limit of `MAX_MATCH_SECONDS`.

    Raises:
        GraderError: If the search exceeds the time limit, or the pattern is not a regular expression.
    """
    try:
        return find_match(pattern, flags, full, answer, MAX_MATCH_SECONDS)
    except _OutOfTime:
        raise GraderError(f"the pattern {pattern!r:.80} was not decided in {MAX_MATCH_SECONDS} s") from None


def _what_is_wrong(pattern: str, flags: int) -> str | None:
    """Return the reason if a text is not a regular expression. Return None if it is one."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"it has {len(pattern):,} characters; at most {MAX_PATTERN_LENGTH:,} are read"
    try:
        re.compile(pattern, flags)
    except (re.error, OverflowError) as error:
        return str(error)
    except RecursionError:
        return "its brackets are nested too deeply"
    return None


class _OutOfTime(Exception):
    """The error of a search that took more CPU time than its limit."""


def _give_up(number: int, frame: FrameType | None) -> None:
    """Raise _OutOfTime if the timer's signal interrupts a search. This function is the handler of that signal.

    At any other moment, do nothing; the next signal comes soon. If this function raised the exception in one
    of Python's own callbacks, the exception would be lost. If it raised while the timer is being stopped, the
    timer would keep running.
    """
    code = None if frame is None else frame.f_code
    if code in (find_match.__code__, _what_is_wrong.__code__) or (
        code and code.co_filename.startswith(RE_DIRECTORY)
    ):
        raise _OutOfTime


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Stop the body of the `with` statement after `seconds` of CPU time. `re` allows signals during a search.

    Raises:
        _OutOfTime: If the time is over, or if this is not the main thread, which alone receives signals.
    """
    if threading.current_thread() is not threading.main_thread():
        raise _OutOfTime
    before = signal.signal(signal.SIGVTALRM, _give_up)
    try:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds, SIGNAL_RETRY_SECONDS)
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        signal.signal(signal.SIGVTALRM, before)
