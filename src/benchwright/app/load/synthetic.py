"""Synthetic prompts of a stated length: plain words, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import count

from benchwright.endpoint.providers import ModelClient
from benchwright.engine.answers import answer_status
from benchwright.engine.protocols import Scorer, Session
from benchwright.records import Outcome, Record, Sample, TaskSpec, Trial
from benchwright.runs.keys import fingerprint

VERSION = "1"
"""To be raised when the same seed would give other prompts."""

FREQUENT = """
the of and to in is that it was for on are as with his they at be this from have or by one had not but what
all were when we there can an your which their said if do will each about how up out them then she many some
so these would other into has more her two like him see time could no make than first been its who now
people my made over did down only way find use may water long little very after words called just where most
know
"""
"""Frequent English words, of one token each in most vocabularies."""

WORDS = FREQUENT.split()

TOKENS_PER_WORD = 1.0
"""What is taken for true where the server does not count."""

INSTRUCTION = "Go on with this text, and do not stop:"


class Calibration(Record, frozen=True):
    """How many tokens the server counts: `fixed` ones for each prompt, and so many for each word.

    `measured` is false where it does not say, and None before it was asked; `TOKENS_PER_WORD` is taken then.
    """

    per_word: float = TOKENS_PER_WORD
    fixed: float = float(len(INSTRUCTION.split()))
    measured: bool | None = None

    def words_for(self, tokens: int) -> int:
        """The number of words that makes a prompt of so many tokens, at least one."""
        return max(1, round((tokens - self.fixed) / self.per_word))

    def told(self, tokens: int) -> str:
        """What can be said of the length of prompts that are to have so many tokens."""
        if self.measured is None:
            return f"about {tokens:,} tokens (to be calibrated)"
        if not self.measured:
            return f"about {tokens:,} tokens (not calibrated: the server does not count them)"
        real = self.fixed + self.per_word * self.words_for(tokens)
        return f"about {real:,.0f} tokens (calibrated by the server's count)"


class SyntheticTask:
    """Prompts without end, of so many words after an instruction; `seed` says which."""

    def __init__(self, words: int, seed: str) -> None:
        self._words = words
        self._seed = seed
        self.spec = TaskSpec(
            name="synthetic", version=VERSION, fingerprint=fingerprint("synthetic", VERSION, words)
        )
        self.scorers: Sequence[Scorer] = ()

    def samples(self) -> Iterator[Sample]:
        """The prompts, made as they are needed."""
        for number in count():
            yield Sample(str(number), synthetic_prompt(self._words, f"{self._seed}:{number}"))

    def size(self) -> int:
        """One: there are as many as are asked for."""
        return 1

    @asynccontextmanager
    async def open(self) -> AsyncIterator[SyntheticTask]:
        """Nothing has to be started."""
        yield self

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Asks once."""
        messages = [{"role": "user", "content": trial.sample.content}]
        reply = await session.chat(messages)
        status, reason = answer_status(reply)
        return Outcome(status, [*messages, reply.message], reply.text, reason)


def synthetic_prompt(words: int, seed: str) -> str:
    """The instruction and so many words."""
    return f"{INSTRUCTION} {' '.join(random.Random(seed).choices(WORDS, k=words))}"


SHORT, LONG = 64, 512
"""Words of the two prompts that are asked to calibrate."""


async def calibrate(client: ModelClient) -> Calibration:
    """Asks for the length of a short and of a long prompt, and draws the line through both.

    Raises:
        ProviderError: the endpoint does not answer.
    """
    counted = []
    for words in (SHORT, LONG):
        messages = [{"role": "user", "content": synthetic_prompt(words, f"calibration:{words}")}]
        reply = await client.ask("/chat/completions", {"messages": messages, "max_tokens": 1})
        counted.append(reply.usage.prompt_tokens)
    short, long = counted
    if short is None or long is None or long <= short:
        return Calibration(measured=False)
    per_word = (long - short) / (LONG - SHORT)
    return Calibration(per_word, short - per_word * SHORT, measured=True)
