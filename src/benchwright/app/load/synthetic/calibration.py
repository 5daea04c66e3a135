"""How many words make a prompt of so many tokens, by the server's own count."""

from __future__ import annotations

from collections.abc import Callable

from benchwright.endpoint.providers import ModelClient
from benchwright.records import Record

TOKENS_PER_WORD = 1.0
"""What is taken for true where the server does not count."""


class Calibration(Record, frozen=True):
    """How many tokens the server counts: `fixed` ones for each prompt, and so many for each word.

    `measured` is false where it does not say, and None before it was asked; `TOKENS_PER_WORD` is taken then.
    """

    per_word: float = TOKENS_PER_WORD
    fixed: float = 0.0
    measured: bool | None = None

    def words_for(self, tokens: int) -> int:
        """The number of words that makes a prompt of so many tokens, at least one."""
        return max(1, round((tokens - self.fixed) / self.per_word))

    def described(self, tokens: int) -> str:
        """What can be said of the length of prompts that are to have so many tokens."""
        if self.measured is None:
            return f"about {tokens:,} tokens (to be calibrated)"
        if not self.measured:
            return f"about {tokens:,} tokens (not calibrated: the server does not count them)"
        real = self.fixed + self.per_word * self.words_for(tokens)
        return f"about {real:,.0f} tokens (calibrated by the server's count)"


SHORT, LONG = 64, 512
"""Words of the two prompts that are asked to calibrate."""


async def calibrate(client: ModelClient, text: Callable[[int, str], str]) -> Calibration:
    """Asks for the length of a short and of a long prompt, and draws the line through both.

    `text` makes so many words from a seed.

    Raises:
        ProviderError: the endpoint does not answer.
    """
    counted = []
    for words in (SHORT, LONG):
        messages = [{"role": "user", "content": text(words, f"calibration:{words}")}]
        reply = await client.ask("/chat/completions", {"messages": messages, "max_tokens": 1})
        counted.append(reply.usage.prompt_tokens)
    short, long = counted
    if short is None or long is None or long <= short:
        return Calibration(measured=False)
    per_word = (long - short) / (LONG - SHORT)
    return Calibration(per_word, short - per_word * SHORT, measured=True)
