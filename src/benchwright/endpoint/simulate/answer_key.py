"""The answer key of a simulated model, and the decision which of its prompts are answered correctly in each round.

The round of an answer is the number of times that the prompt was answered before.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

import xxhash

from benchwright.endpoint.simulate.settings import KeyedAnswer, Settings
from benchwright.endpoint.simulate.shared_counters import SharedCounters

WRONG_TEXT = "something else entirely"
_ALL_TAKEN = (1 << 64) - 1
_NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?")


class AnswerKey:
    """Mapping from prompts to right answers, and the decision whether a prompt is answered correctly.

    The round of an answer is the number of times that the prompt was answered before. In each round exactly
    round(accuracy * N) of the N prompts are answered correctly: those ranked first by a seeded hash of round
    and prompt.
    """

    def __init__(self, settings: Settings, board: SharedCounters) -> None:
        self._entries = {entry.prompt: entry for entry in settings.answers}
        self._seed = settings.seed
        self._prompts = list(self._entries)
        self._index = {prompt: index for index, prompt in enumerate(self._prompts)}
        self._longest_first = sorted(self._prompts, key=len, reverse=True)
        self._right_count = round(settings.accuracy * len(self._prompts))
        self._rounds = PromptRounds(board)
        self.find = lru_cache(maxsize=4096)(self._find)
        self._right_in = lru_cache(maxsize=64)(self._rank)

    def _find(self, prompt: str) -> KeyedAnswer | None:
        """Return the entry with this prompt.

        If there is none, return the entry with the longest prompt that is contained in this prompt. Return
        None if there is no such entry either.
        """
        entry = self._entries.get(prompt)
        if entry is None:
            entry = next((self._entries[key] for key in self._longest_first if key in prompt), None)
        return entry

    def take_round(self, entry: KeyedAnswer) -> int:
        """Take the lowest free round of the entry's prompt, and return its number.

        In round n, the prompt was answered n times before.
        """
        return self._rounds.take_round(self._index[entry.prompt])

    def free_round(self, entry: KeyedAnswer, number: int) -> None:
        """Free a round, because the answer of that round did not reach the client."""
        self._rounds.free_round(self._index[entry.prompt], number)

    def is_answered_correctly(self, entry: KeyedAnswer, number: int) -> bool:
        """Return True if the entry's prompt is answered correctly in the round `number`."""
        return bool(self._right_in(number)[self._index[entry.prompt]])

    def _rank(self, number: int) -> bytearray:
        def place(index: int) -> int:
            return xxhash.xxh3_64_intdigest(f"{number}:{self._prompts[index]}".encode(), seed=self._seed)

        flags = bytearray(len(self._prompts))
        for index in sorted(range(len(self._prompts)), key=place)[: self._right_count]:
            flags[index] = 1
        return flags


class PromptRounds:
    """Assigns a round number to each request whose prompt has an entry in the answer key.

    The round number is the number of times that the prompt was answered before. The number assigned is the
    lowest free one, across all processes. The shared memory holds two values per prompt: the first number of
    the current block of 64 numbers, and a bit mask of the numbers taken in that block.
    """

    def __init__(self, board: SharedCounters) -> None:
        self._cells = board.rounds
        self._lock = board.lock

    def take_round(self, prompt: int) -> int:
        """Mark the lowest free round number of a prompt as taken, and return it."""
        with self._lock:
            first, taken = self._cells[2 * prompt], self._cells[2 * prompt + 1]
            if taken == _ALL_TAKEN:
                first, taken = first + 64, 0
            lowest_free = ~taken & (taken + 1)
            self._cells[2 * prompt], self._cells[2 * prompt + 1] = first, taken | lowest_free
        return first + lowest_free.bit_length() - 1

    def free_round(self, prompt: int, number: int) -> None:
        """Mark a round number as free. A number before the current block of 64 numbers stays taken."""
        with self._lock:
            bit = number - self._cells[2 * prompt]
            if bit >= 0:
                self._cells[2 * prompt + 1] &= ~(1 << bit)


def wrong_answer(answer: str) -> str:
    """Return a plausible but wrong answer: another letter, another number, or a fixed text.

    A letter from A to D becomes another of these four letters. A later letter becomes its neighbour. A number
    grows by one in its last digit, and its thousands separators are removed.
    """
    text = answer.strip()
    if len(text) == 1 and text.isascii() and text.isalpha():
        return _another_letter(text)
    if _NUMBER.fullmatch(text):
        return _another_number(text.replace(",", ""))
    return WRONG_TEXT


def _another_letter(letter: str) -> str:
    start = ord("A" if letter.isupper() else "a")
    position = ord(letter) - start
    other = (position + 1) % 4 if position < 4 else position - 1
    return chr(start + other)


def _another_number(number: str) -> str:
    whole, point, decimals = number.partition(".")
    if not point:
        return str(int(whole) + 1)
    return f"{Decimal(number) + Decimal(1).scaleb(-len(decimals)):f}"
